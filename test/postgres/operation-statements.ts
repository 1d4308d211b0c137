import { lockedTable } from "../schedule/locking-statements.js";
import type { SentStatement } from "../support/sent-statements.js";

/** The tables whose rows the documented example of each writing operation locks, with the mode, in this order. */
export const LOCKS: Readonly<Record<string, readonly string[]>> = {
  ...each(
    [],
    [
      "RegisterPatient",
      "CheckEligibility",
      "CreateCase",
      "CreateWaitlistEntry",
      "CreateAppointmentType",
      "CreateContract",
      "CreateCancellationReason",
      "CreateRequestSource",
      "CreatePayer",
      "CreateConsultationType",
      "CreateNoShowReason",
      "CreateLocation",
      "CreateHealthcareService",
      "CreatePractitioner",
      "CreateOpportunityDefinition",
      "CreateProgram",
      "CreateNote",
    ],
  ),
  ...each(["appointment_holds for no key update", "freed_slots for no key update"], ["ReleaseHold"]),
  ...each(["appointment_types for no key update"], ["UpdateAppointmentType", "UpdateAppointmentTypeBuffer"]),
  ...each(["appointments for no key update"], ["MarkAppointmentAttended", "CorrectAppointmentWait"]),
  ...each(["calendars for no key update"], ["CreateHoliday", "SeedHolidays", "CreateTenant"]),
  ...each(["cancellation_reasons for no key update"], ["UpdateCancellationReason"]),
  ...each(["consultation_types for no key update"], ["UpdateConsultationType"]),
  ...each(["contracts for no key update"], ["UpdateContract", "ReplaceCoveredServices"]),
  ...each(["event_feeds for no key update"], ["CreateWebhook"]),
  ...each(["healthcare_services for no key update"], ["UpdateHealthcareService"]),
  ...each(["locations for no key update"], ["UpdateLocation"]),
  ...each(["no_show_reasons for no key update"], ["UpdateNoShowReason"]),
  ...each(["notes for no key update"], ["UpdateNote", "DeleteNote"]),
  ...each(["opportunity_definitions for no key update"], ["UpdateOpportunityDefinition"]),
  ...each(["patients for no key update"], ["UpdatePatient", "SetPatientStatus", "CorrectPatientDocument"]),
  ...each(["payers for no key update"], ["UpdatePayer"]),
  ...each(["practitioners for no key update"], ["UpdatePractitioner"]),
  ...each(["programs for no key update"], ["UpdateProgram", "UpdateProgramWindow", "ReplaceProgramServices"]),
  ...each(["request_sources for no key update"], ["UpdateRequestSource"]),
  ...each(["tenant_settings for no key update"], ["UpdateTenantSettings"]),
  ...each(["tenants for no key update"], ["SuspendTenant", "ResumeTenant", "EraseTenant"]),
  ...each(["user_attention_cases for no key update"], ["TakeCase", "CloseCase"]),
  ...each(["waitlist_entries for no key update"], ["CloseWaitlistEntry", "ChangeWaitlistEntry"]),
  ...each(
    ["webhooks for no key update"],
    ["UpdateWebhook", "DeleteWebhook", "RotateWebhookSecret", "TestWebhook", "ReplayWebhook"],
  ),
  ...each(
    ["appointments for no key update", "slots for no key update"],
    ["MarkAppointmentNoShow", "CancelAppointment"],
  ),
  ...each(["calendars for no key update", "slots for update"], ["CreateScheduleBlock"]),
  ...each(
    ["patients for no key update", "appointments for no key update"],
    ["ConfirmAppointment", "CheckInAppointment", "ChangeAppointment", "EnterLateSteps"],
  ),
  ...each(["calendars for no key update", "holidays for no key update", "slots for update"], ["UpdateHoliday"]),
  ...each(
    ["calendars for no key update", "schedule_blocks for no key update", "slots for update"],
    ["UpdateScheduleBlock", "CancelScheduleBlock"],
  ),
  ...each(
    ["calendars for share", "programs for no key update", "slots for update"],
    ["UpdateProgramRule", "ReplaceProgramPractitioners", "CreateProgramRule", "MaterializeSchedule"],
  ),
  ...each(
    ["patients for no key update", "appointments for no key update", "slots for no key update"],
    ["AcceptDisplacedAppointments", "CancelSeries"],
  ),
  ...each(
    ["patients for no key update", "slots for no key update", "practitioners for no key update"],
    ["BookAppointment", "BookAppointmentAt", "BookSeries", "BookTogether"],
  ),
  ...each(
    [
      "patients for no key update",
      "appointments for no key update",
      "slots for no key update",
      "practitioners for no key update",
    ],
    ["MoveSeries"],
  ),
  ...each(
    [
      "import_sources for no key update",
      "programs for share",
      "patients for no key update",
      "practitioners for no key update",
    ],
    ["ImportResources"],
  ),
  ...each(
    [
      "patients for no key update",
      "appointments for no key update",
      "slots for no key update",
      "practitioners for no key update",
    ],
    ["RescheduleAppointment", "MoveAppointment", "SubstitutePractitioner", "SwapPractitioners"],
  ),
  ...each(
    [
      "calendars for share",
      "programs for share",
      "patients for no key update",
      "appointments for no key update",
      "slots for no key update",
      "practitioners for no key update",
    ],
    ["CorrectAppointmentStatus"],
  ),
  ...each(
    [
      "patients for no key update",
      "slots for no key update",
      "practitioners for no key update",
      "appointment_holds for no key update",
    ],
    ["HoldAppointmentOption"],
  ),
  ...each(
    [
      "patients for update",
      "waitlist_entries for no key update",
      "appointments for no key update",
      "appointment_holds for no key update",
    ],
    ["MergePatients"],
  ),
  ...each(
    ["programs for share", "patients for no key update", "slots for no key update", "practitioners for no key update"],
    ["OverbookAppointment"],
  ),
  ...each(["programs for share", "patients for no key update", "practitioners for no key update"], ["EnterLateVisit"]),
  ...each(
    [
      "patients for update",
      "waitlist_entries for no key update",
      "appointments for no key update",
      "appointment_holds for no key update",
      "user_attention_cases for no key update",
    ],
    ["ErasePatient"],
  ),
};

/**
 * What the documented example of an operation tells the planner: not to compile statements over a whole schedule, and to
 * read lists in the order of their index.
 */
export const PLANNER_SETTINGS: Readonly<Record<string, readonly string[]>> = {
  ...each(
    ["jit = off", "jit = off"],
    [
      "UpdateProgramRule",
      "ReplaceProgramPractitioners",
      "CreateProgramRule",
      "MaterializeSchedule",
      "CreateScheduleBlock",
      "UpdateScheduleBlock",
      "CancelScheduleBlock",
    ],
  ),
  UpdateHoliday: ["jit = off", "jit = off", "jit = off"],
  ...each(["enable_bitmapscan = off", "enable_seqscan = off"], ["ListAppointments", "ListDisplacedAppointments"]),
  ...each(
    ["enable_sort = off", "enable_bitmapscan = off", "enable_seqscan = off"],
    ["ExportPatient", "ListAccessRecords"],
  ),
  ImportResources: ["enable_seqscan = off", "enable_hashjoin = off", "enable_mergejoin = off"],
};

/** Returns the locks that statements take with a clause such as FOR SHARE, each once, in the order of the first. */
export function locksIn(statements: readonly SentStatement[]): readonly string[] {
  const locks = statements.flatMap(({ text }) => {
    const [clause] = / for (?:no key update|update|share)\b/i.exec(text) ?? [];
    return clause === undefined ? [] : [`${lockedTable(text)}${clause.toLowerCase()}`];
  });
  return [...new Set(locks)];
}

/** Returns the settings of the planner that statements change for their transaction. */
export function plannerSettingsIn(statements: readonly SentStatement[]): readonly string[] {
  return statements.flatMap(({ text }) => /^SET LOCAL ((?:enable_\w+|jit) = \w+)$/.exec(text)?.[1] ?? []);
}

/** Returns the kinds of scans that statements forbid the planner. */
export function scansIn(statements: readonly SentStatement[]): readonly string[] {
  return plannerSettingsIn(statements).filter((setting) => setting.startsWith("enable_"));
}

function each(locks: readonly string[], names: readonly string[]): Record<string, readonly string[]> {
  return Object.fromEntries(names.map((name) => [name, locks]));
}
