/** RPCs that change a program rule or preview such a change. */
export const ruleChanges = ["CreateProgramRule", "UpdateProgramRule", "PreviewRuleChange"];
/** RPCs that fail if another active patient has the same document. */
export const documentChanges = ["RegisterPatient", "SetPatientStatus", "CorrectPatientDocument"];
/** RPCs that book several appointments. */
export const seriesBookings = ["BookSeries", "BookTogether"];
/** RPCs that book appointments. */
export const bookings = ["BookAppointment", "BookAppointmentAt", "OverbookAppointment", ...seriesBookings];
/** RPCs that record past visits, or past steps of visits, for example after an outage. */
export const lateEntries = ["EnterLateVisit", "EnterLateSteps"];
/** RPCs that move an appointment to an appointment option from a search. */
export const moves = ["RescheduleAppointment", "MoveAppointment"];
/** RPCs that search for appointment options. */
export const searches = ["SearchAppointmentOptions", "MatchWaitlistEntry"];
/** RPCs that change an appointment's status with a reason. */
export const reasonSteps = ["CancelAppointment", "CancelSeries", "MarkAppointmentNoShow", ...lateEntries];
/** RPCs that change the booking window (horizon or minimum notice), or preview such a change. */
export const windowChanges = [
  "UpdateTenantSettings",
  "PreviewTenantSettingsChange",
  "UpdateProgramWindow",
  "PreviewProgramWindowChange",
];
/** RPCs that set the times of a schedule block. */
export const blockChanges = ["CreateScheduleBlock", "UpdateScheduleBlock"];

/**
 * RPCs whose 404 can have items in `errors` with the code NOT_FOUND. Each item names a field of the request that refers
 * to a resource which does not exist or is not visible. The 404 of other RPCs has no such items.
 */
export const referring = [
  "CreateAppointmentType",
  "UpdateAppointmentType",
  "CreateContract",
  "UpdateContract",
  "ReplaceCoveredServices",
  "CreateHealthcareService",
  "UpdateHealthcareService",
  "CreateProgram",
  "UpdateProgram",
  "CreateScheduleBlock",
  "ReplaceProgramServices",
  "ReplaceProgramPractitioners",
  "PreviewPractitionerChange",
  "SubstitutePractitioner",
  "SwapPractitioners",
  "CheckEligibility",
  "MergePatients",
  "CloseWaitlistEntry",
  "ChangeWaitlistEntry",
  "CorrectAppointmentWait",
  "ChangeAppointment",
  "MoveSeries",
  ...bookings,
  ...searches,
  ...reasonSteps,
];
/** RPCs that can have more than a hundred references, which may all be unknown. */
export const manyReferences = [
  "ReplaceCoveredServices",
  "ReplaceProgramServices",
  "ReplaceProgramPractitioners",
  "PreviewPractitionerChange",
];
/**
 * RPCs that reject a value for a reason that the protos do not show: for example, the resource is inactive, or the
 * value does not fit another field. RPCs with a text field need no entry, because every text can have an invalid value.
 * The RPCs in `bookings`, `searches` and `reasonSteps` do so too, but are not repeated here.
 */
export const fittingValues = [
  "CreateWaitlistEntry",
  "CreateCase",
  "CloseWaitlistEntry",
  "ChangeWaitlistEntry",
  "ChangeAppointment",
  "ErasePatient",
  "EraseTenant",
  "SubstitutePractitioner",
  "SwapPractitioners",
  "ListEvents",
  "WatchEvents",
  "MoveSeries",
];
