import { isClaim } from "../schedule/locking-statements.js";
import type { SentStatement } from "../support/sent-statements.js";

/**
 * Database round trips of each writing operation, from its documented example, including the surrounding transaction.
 * One if no statement depends on an answer. Two if a row is read before it is changed, at least for its version. More
 * if an answer decides which other rows to read.
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
    "UpdateAppointmentTypeBuffer",
    "CreateContract",
    "UpdateConsultationType",
    "UpdateCancellationReason",
    "UpdateNoShowReason",
    "UpdateRequestSource",
    "UpdateProgram",
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
    "HoldAppointmentOption",
    "ReleaseHold",
    "ConfirmAppointment",
    "CheckInAppointment",
    "MarkAppointmentAttended",
    "MarkAppointmentNoShow",
    "CancelAppointment",
    "CorrectAppointmentStatus",
    "CorrectAppointmentWait",
    "EnterLateSteps",
    "AcceptDisplacedAppointments",
    "SubstitutePractitioner",
    "SetPatientStatus",
    "CorrectPatientDocument",
    "CreateNote",
    "UpdateNote",
    "DeleteNote",
    "CloseWaitlistEntry",
    "ChangeWaitlistEntry",
    "TakeCase",
    "CloseCase",
    "SuspendTenant",
    "ResumeTenant",
    "EraseTenant",
    "UpdateTenantSettings",
    "UpdateProgramWindow",
    "CreateWebhook",
    "UpdateWebhook",
    "DeleteWebhook",
    "RotateWebhookSecret",
  ]),
  /**
   * Bookings by time find their slots before they lock them. A holiday more than 90 days ahead finds whether a program
   * reaches it. The move is a trial (`validateOnly`), which asks whether its statements succeeded. New practitioners of a
   * program ask which slots change.
   */
  ...each(3, [
    "ReplaceProgramPractitioners",
    "MoveAppointment",
    "CreateHoliday",
    "CreateTenant",
    "BookAppointmentAt",
    "MergePatients",
    "ErasePatient",
    "EnterLateVisit",
    "TestWebhook",
    "ReplayWebhook",
  ]),
  /**
   * Rules that enlarge a plan count the tenant's open slots. Schedules are planned from rows read before, and withdrawn
   * and retained slots are part of the answer.
   */
  ...each(4, [
    "CreateProgramRule",
    "UpdateProgramRule",
    "ChangeAppointment",
    "SwapPractitioners",
    "UpdateHoliday",
    "OverbookAppointment",
    "CreateScheduleBlock",
  ]),
  ...each(5, ["MaterializeSchedule", "UpdateScheduleBlock", "CancelScheduleBlock"]),
  /** Several appointments: their rows are found, locked and judged, then all days are taken. Their number makes no difference. */
  ...each(3, ["CancelSeries"]),
  ...each(5, ["BookSeries", "BookTogether"]),
  ...each(6, ["MoveSeries"]),
  /** A batch of any number of rows: each kind reads what its rows refer to. */
  ...each(8, ["ImportResources"]),
};

/**
 * Counts the round trips of the last call with an idempotency key. BEGIN and COMMIT share round trips with other
 * statements.
 */
export function tripsOfLastCall(statements: readonly SentStatement[]): number {
  return new Set(statementsOfLastCall(statements).map(({ flight }) => flight)).size;
}

/** Returns the statements of the last call with an idempotency key, from BEGIN to COMMIT. */
export function statementsOfLastCall(statements: readonly SentStatement[]): readonly SentStatement[] {
  const claim = statements.findLast(({ text }) => isClaim(text));
  const own = statements.filter(({ connection }) => connection === claim?.connection);
  const from = own.slice(0, own.indexOf(claim as SentStatement)).findLastIndex(({ text }) => text === "BEGIN");
  const behind = own.slice(from);
  const to = behind.findIndex(({ text }) => text === "COMMIT");
  if (from < 0 || to < 0) throw new Error("no call that took a key");
  return behind.slice(0, to + 1);
}

function each(trips: number, names: readonly string[]): Record<string, number> {
  return Object.fromEntries(names.map((name) => [name, trips]));
}
