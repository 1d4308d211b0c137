import { randomUUID } from "node:crypto";
import { dateIn, openSlots } from "./open-slots.mjs";
import { prepareMoves, RESCHEDULE } from "./prepare-moves.mjs";
import { newPatient } from "./registration.mjs";

const SLOTS = 20_000;
const REGISTER = "cupo.access.v1.PatientService/RegisterPatient";
const UPDATE_PATIENT = "cupo.access.v1.PatientService/UpdatePatient";
const UPDATE_RULE = "cupo.access.v1.SchedulingConfigurationService/UpdateProgramRule";
const ELIGIBILITY = "cupo.access.v1.EligibilityService/CheckEligibility";
const CATALOGS = "cupo.access.v1.CatalogService";
const SEARCH = "cupo.clinic.v1.BookingService/SearchAppointmentOptions";

/**
 * Opens a clinic and gives the operations that are measured in it. `requests` prepares so many of one: each can be sent once, with
 * the `key` that it has to be sent under where there is one.
 *
 * @param {(rpc: string, request: object, key?: string) => Promise<any>} call
 */
export async function prepareOperations(call) {
  const clinic = await openSlots(call, SLOTS);
  const covered = await openContract(call);
  const publish = (name, rpc, requests) => ({ name, rpc, isPublished: true, requests });
  return [
    publish("POST /patients", REGISTER, async (count) => each(count, () => ({ message: newPatient() }))),
    publish("PATCH of a patient", UPDATE_PATIENT, (count) => patientUpdates(call, count)),
    publish("PATCH of a rule", UPDATE_RULE, (count) => ruleUpdates(call, clinic, count)),
    publish("reschedule", RESCHEDULE, (count) => prepareMoves(call, clinic, count)),
    publish("eligibility check", ELIGIBILITY, async (count) =>
      each(count, () => ({
        message: { ...covered, patientId: clinic.patientId, serviceId: clinic.serviceId, serviceDate: dateIn(3) },
      })),
    ),
    { name: "search for options", rpc: SEARCH, isPublished: false, requests: async (count) => searches(clinic, count) },
    publish("replay of a registration", REGISTER, (count) => replays(call, count)),
  ];
}

function each(count, make) {
  return Array.from({ length: count }, (_, i) => make(i));
}

async function openContract(call) {
  const named = { code: randomUUID().slice(0, 8), name: "Aseguradora", active: true };
  const { payer } = await call(`${CATALOGS}/CreatePayer`, { ...named, taxId: "900123456-7" });
  const dates = { validFrom: "2020-01-01", validTo: "2099-12-31" };
  const { contract } = await call(`${CATALOGS}/CreateContract`, { ...named, payerId: payer.id, ...dates });
  return { payerId: payer.id, contractId: contract.id };
}

async function patientUpdates(call, count) {
  const updates = [];
  for (let i = 0; i < count; i += 1) {
    const { patient } = await call(REGISTER, newPatient());
    const changes = { fullName: "Ana María Gómez Pérez", phone: "+57 300 555 0101" };
    const message = { patientId: patient.id, ...changes, expectedVersion: 1, updateMask: "fullName,phone" };
    updates.push({ message });
  }
  return updates;
}

/** Each rule of the clinic once, because its version grows: there are fewer than calls are asked for. */
async function ruleUpdates(call, { programs }, count) {
  const rules = [];
  for (const programId of programs.slice(0, count)) {
    const { programRules } = await call("cupo.clinic.v1.ProgramService/ListProgramRules", { programId });
    const [{ ruleId, version, dailyCapacity }] = programRules;
    const changes = { dailyCapacity: dailyCapacity === 9_999 ? 9_998 : 9_999 };
    rules.push({ message: { programId, ruleId, ...changes, expectedVersion: version, updateMask: "dailyCapacity" } });
  }
  return rules;
}

function searches({ patientId, serviceId }, count) {
  return each(count, (i) => ({
    message: { patientId, serviceId, dateFrom: dateIn(1 + (i % 30)), dateTo: dateIn(8 + (i % 30)) },
  }));
}

async function replays(call, count) {
  const [message, key] = [newPatient(), randomUUID()];
  await call(REGISTER, message, key);
  return each(count, () => ({ message, key }));
}
