import type { SentStatement } from "../support/sent-statements.js";

/**
 * The round trips to the database that each operation that writes takes, in one transaction with everything around it, for its
 * documented example. One where nothing hangs on an answer; two where something has to be looked at before it is changed, a
 * version at least; more where what is looked at says what else has to be.
 */
export const ROUND_TRIPS: Readonly<Record<string, number>> = {
  ...each(1, [
    "RegisterPatient",
    "CreateCancellationReason",
    "CreateRequestSource",
    "CreatePayer",
    "CreateConsultationType",
    "CreateNoShowReason",
    "CreateLocation",
    "CreateHealthcareService",
    "CreatePractitioner",
    "CreateOpportunityDefinition",
  ]),
  ...each(2, [
    "UpdatePatient",
    "RescheduleAppointment",
    "CheckEligibility",
    "CreateCase",
    "CreateWaitlistEntry",
    "CreateAppointmentType",
    "UpdateAppointmentType",
    "CreateContract",
    "UpdateConsultationType",
    "UpdateCancellationReason",
    "UpdateNoShowReason",
    "UpdateRequestSource",
    "UpdateProgram",
    "ReplaceProgramPractitioners",
    "CreateHoliday",
    "UpdatePayer",
    "UpdateContract",
    "ReplaceCoveredServices",
    "UpdateLocation",
    "UpdateHealthcareService",
    "UpdatePractitioner",
    "UpdateOpportunityDefinition",
    "CreateProgram",
    "ReplaceProgramServices",
    "SeedHolidays",
    "BookAppointment",
    "ConfirmAppointment",
    "CheckInAppointment",
    "MarkAppointmentAttended",
    "MarkAppointmentNoShow",
    "CancelAppointment",
    "CorrectAppointmentStatus",
    "AcceptRetainedAppointments",
    "SubstitutePractitioner",
    "SetPatientStatus",
    "CorrectPatientDocument",
    "AddNote",
    "UpdateNote",
    "RemoveNote",
    "CloseWaitlistEntry",
    "TakeUserAttentionCase",
    "CloseUserAttentionCase",
  ]),
  /** Rules that make a plan larger have the tenant's open slots counted; the slots at a time are known before they are locked. */
  ...each(3, ["UpdateProgramRule", "CreateProgramRule", "BookAppointmentAt", "MergePatients", "ErasePatient"]),
  /** Schedules are planned from what is read, and what the plan withdraws or keeps is part of the answer. */
  ...each(4, ["UpdateHoliday", "MaterializeSchedule", "OverbookAppointment", "CreateScheduleBlock"]),
  ...each(5, ["UpdateScheduleBlock", "CancelScheduleBlock"]),
};

/** The round trips of the last call that took an idempotency key: from its BEGIN to its COMMIT, which go with others. */
export function tripsOfLastCall(statements: readonly SentStatement[]): number {
  const claim = statements.findLast(({ text }) => text.startsWith('insert into "idempotency_keys"'));
  const own = statements.filter(({ connection }) => connection === claim?.connection);
  const from = own.slice(0, own.indexOf(claim as SentStatement)).findLastIndex(({ text }) => text === "BEGIN");
  const behind = own.slice(from);
  const to = behind.findIndex(({ text }) => text === "COMMIT");
  if (from < 0 || to < 0) throw new Error("no call that took a key");
  return new Set(behind.slice(0, to + 1).map(({ flight }) => flight)).size;
}

function each(trips: number, names: readonly string[]): Record<string, number> {
  return Object.fromEntries(names.map((name) => [name, trips]));
}
