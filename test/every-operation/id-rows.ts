import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import { demo } from "../../src/openapi/examples/demo-ids.js";

const block = { startsAt: "2099-01-05T08:00:00-05:00", endsAt: "2099-01-05T12:00:00-05:00", kind: "MEETING" };
const appointment = {
  patient: { resourceId: demo.patient.quintero },
  practitioner: { resourceId: demo.practitioner.mora },
  service: { resourceId: demo.service.general },
  programId: demo.program.primary,
  requestSourceId: demo.requestSource.portal,
  appointmentTypeId: demo.appointmentType.control,
  startsAt: "2019-03-05T09:00:00-05:00",
  endsAt: "2019-03-05T09:20:00-05:00",
  status: "ATTENDED",
  requestedOn: "2019-03-01",
};

/** The table of the resources that an id of this name identifies, or a query in its place. */
const TABLES: Readonly<Record<string, string>> = {
  patientId: "patients",
  appointmentId: "appointments",
  practitionerId: "practitioners",
  serviceId: "healthcare_services",
  locationId: "locations",
  programId: "programs",
  ruleId: "program_rules",
  holidayId: "holidays",
  scheduleBlockId: "schedule_blocks",
  opportunityDefinitionId: "opportunity_definitions",
  appointmentTypeId: "appointment_types",
  consultationTypeId: "consultation_types",
  cancellationReasonId: "cancellation_reasons",
  noShowReasonId: "no_show_reasons",
  requestSourceId: "request_sources",
  payerId: "payers",
  contractId: "contracts",
  decisionId: "eligibility_decisions",
  waitlistEntryId: "waitlist_entries",
  userAttentionCaseId: "user_attention_cases",
  holdId: "appointment_holds",
  noteId: "notes",
  webhookId: "webhooks",
  seriesId: "(SELECT tenant_id, series_id AS id FROM appointments WHERE series_id IS NOT NULL) AS series",
};

/** Returns the table of the resources that an id at a place of a request identifies. Throws if it is not stated. */
export function tableOf(method: DescMethod, place: string): string {
  const name = nameOf(method, place);
  const ending = Object.keys(TABLES).find((each) => name.toLowerCase().endsWith(each.toLowerCase()));
  const table = TABLES[ending ?? ""];
  if (table === undefined) throw new Error(`${method.name}: add the table of ${place} to id-rows.ts`);
  return table;
}

/** Returns the name of the id: `patientId` for `rows[0].appointment.patient.resourceId`. */
function nameOf(method: DescMethod, place: string): string {
  const [last = "", owner = ""] = place
    .replace(/s?\[\d+\]/g, "")
    .split(".")
    .toReversed();
  if (last === "id") return `${method.name.replace(/^[A-Z][a-z]+/, "")}Id`;
  return last === "resourceId" ? `${owner}Id` : last;
}

/** Requests in which an id can stand at a place, where it cannot in the examples of the operation. */
const REQUESTS: Readonly<Record<string, JsonObject>> = {
  "CreateNote appointmentId": { text: "Prefiere que la llamen por la tarde." },
  "ListNotes appointmentId": {},
  "CreateScheduleBlock locationId": block,
  "CreateScheduleBlock programId": block,
  "EnterLateSteps noShowReasonId": { noShowAt: "2026-11-18T08:00:00-05:00", reason: "Hubo un corte de energía." },
  "ImportResources rows[0].service": imported("service", { code: "OTRO", name: "Otro servicio", active: true }),
  "ImportResources rows[0].contract": imported("contract", {
    code: "OTRO",
    name: "Otro convenio",
    validFrom: "2026-01-01",
    validTo: "2026-12-31",
    active: true,
  }),
  "ImportResources rows[0].appointment": imported("appointment", appointment),
  "ImportResources rows[0].appointment.cancellationReasonId": imported("appointment", {
    ...appointment,
    status: "CANCELLED",
  }),
  "ImportResources rows[0].appointment.noShowReasonId": imported("appointment", { ...appointment, status: "NO_SHOW" }),
  "ImportResources rows[0].waitlistEntry": imported("waitlistEntry", {
    patient: { resourceId: demo.patient.quintero },
    service: { resourceId: demo.service.general },
    dateFrom: "2099-01-01",
    dateTo: "2099-12-31",
    preferredPeriods: ["MORNING"],
    requestedOn: "2026-01-01",
  }),
};

/** The example that completes a request of the table above. */
const BASES: Readonly<Record<string, string>> = { "EnterLateSteps noShowReasonId": "MarkAppointmentNoShow" };

/** Returns the name of the example whose members complete {@link requestFor}; undefined if it is whole. */
export function baseOf(method: DescMethod, place: string): string | undefined {
  return BASES[`${method.name} ${place}`];
}

/** Returns a request in which an id can stand at the place; undefined if it can in the examples of the operation. */
export function requestFor(method: DescMethod, place: string): JsonObject | undefined {
  const wanted = `${method.name} ${place}`;
  const name = Object.keys(REQUESTS).findLast((each) => wanted === each || wanted.startsWith(`${each}.`));
  return name === undefined ? undefined : REQUESTS[name];
}

function imported(kind: string, resource: JsonObject): JsonObject {
  return { sourceSystem: "Agenda 2019", rows: [{ sourceId: "1", [kind]: resource }] };
}
