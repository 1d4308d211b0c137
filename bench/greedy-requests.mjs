import { randomInt, randomUUID } from "node:crypto";
import { dateIn } from "./greedy-clinic.mjs";
import { BODY, DOCUMENT_PLACEHOLDER } from "./registration.mjs";

const PROGRAMS = "cupo.clinic.v1.ProgramService";
const PATIENTS = "cupo.clinic.v1.PatientDirectoryService";
const CONFIGURATION = "cupo.access.v1.SchedulingConfigurationService";

/** A registration of a patient that there is not yet. */
export function registration() {
  return BODY.replace(DOCUMENT_PLACEHOLDER, String(randomInt(1e14, 3e14)));
}

/** What costs most, of each kind, by name; each sends one request of a caller and gives the status of its answer. */
export function requestsOf(clinic) {
  return { ...schedules(clinic), ...bodies(clinic), ...pages() };
}

function schedules({ programId, ruleId, practitionerIds }) {
  const rule = { programId, ruleId };
  const widest = { ...rule, slotDurationMinutes: 1, weekdays: [1, 2, 3, 4, 5, 6, 7] };
  let turn = 0;
  const atTurn = (one, other) => (turn++ % 2 === 0 ? one : other);
  return {
    "previews of a rule of 1-minute slots": ({ rpc }) => rpc(`${PROGRAMS}/PreviewRuleChange`, widest),
    "previews of as many slots as may be": ({ rpc }) =>
      rpc(`${PROGRAMS}/PreviewRuleChange`, { ...rule, weekdays: [atTurn(2, 3)] }),
    "previews of other practitioners": ({ rpc }) =>
      rpc(`${PROGRAMS}/PreviewPractitionerChange`, {
        programId,
        practitionerIds: practitionerIds.slice(atTurn(0, 50)),
      }),
    "MaterializeSchedule of what is made": ({ rpc }) => rpc(`${PROGRAMS}/MaterializeSchedule`, { programId }),
    "holidays made active and inactive": ({ rpc }) =>
      rpc(`${CONFIGURATION}/CreateHoliday`, { date: dateIn(turn++ % 80), name: "Fiesta", active: true }),
    "checks of all invariants": ({ rpc }) => rpc("cupo.clinic.v1.OperationsService/VerifyInvariants", {}),
  };
}

function bodies({ programId }) {
  const ids = (count) => Array.from({ length: count }, () => randomUUID());
  const replace = (practitionerIds) => ({ programId, practitionerIds, expectedVersion: 2 });
  const put = ({ rest }, practitionerIds) =>
    rest("PUT", `/admin/configuration/scheduling/programs/${programId}/practitioners`, {
      practitionerIds,
      expectedVersion: 2,
    });
  const nested = `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`;
  const complaint = (description) => ({ category: "COMPLAINT", externalReference: "R-1", description });
  const sentence = "En la sala 12 la espera fue larga, llamé al 601 555 0100 y nadie me dijo la clave del turno. ";
  return {
    "replacements by 500 practitioners that there are not": ({ rpc }) =>
      rpc(`${CONFIGURATION}/ReplaceProgramPractitioners`, replace(ids(500))),
    "practitionerIds of 1,700 items in 63 KB": (caller) => put(caller, ids(1_600)),
    "practitionerIds of 21,000 items in 63 KB": (caller) => put(caller, Array(21_000).fill("")),
    "descriptions of 62 KB": ({ rest }) =>
      rest("POST", "/siau-cases", complaint("La espera fue larga. ".repeat(2_950))),
    "descriptions of 4,000 characters, all screened": ({ rest }) =>
      rest("POST", "/siau-cases", complaint(sentence.repeat(50).slice(0, 4_000).trim())),
    "JSON that is nested 10,000 deep": ({ rest }) => rest("POST", "/patients", nested),
    "registrations of its own": ({ rest }) => rest("POST", "/patients", registration()),
  };
}

function pages() {
  const pageSize = 2_147_483_647;
  return {
    "pages of 200 patients, each with its access record": ({ rpc }) => rpc(`${PATIENTS}/ListPatients`, { pageSize }),
    "the largest page of practitioners": ({ rpc }) =>
      rpc("cupo.clinic.v1.ReferenceDataService/ListPractitioners", { pageSize }),
  };
}
