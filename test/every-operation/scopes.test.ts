import { expect, test } from "vitest";
import { isPublished, operationOf } from "../../src/operation.js";
import { servedServices } from "../../src/services/services.js";

/** The operations of the clinic by the scope that they require. The other tests take the scope from the protos. */
const OPERATIONS: Readonly<Record<string, string>> = {
  "configuration:read": `
    GetAppointmentType GetCancellationReason GetConsultationType GetContract GetCoveredServices GetHealthcareService
    GetLocation GetNoShowReason GetOpportunityDefinition GetPayer GetPractitioner GetRequestSource
    ListAppointmentTypes ListCancellationReasons ListConsultationTypes ListContracts ListHealthcareServices
    ListLocations ListNoShowReasons ListOpportunityDefinitions ListPayers ListPractitioners ListRequestSources`,
  "configuration:write": `
    CreateConsultationType CreateNoShowReason ReplaceCoveredServices UpdateAppointmentTypeBuffer UpdateContract
    UpdatePayer`,
  "desk:read": "GetCase GetWaitlistEntry ListCases ListWaitlistEntries MatchSlot",
  "desk:write": "ChangeWaitlistEntry CloseCase CloseWaitlistEntry TakeCase",
  "events:read": "ListEvents WatchEvents",
  "import:write": "GetImportReport ImportResources",
  "notes:read": "GetNote ListNotes",
  "notes:write": "CreateNote DeleteNote UpdateNote",
  "operations:read": "GetEligibilityDecision VerifyInvariants",
  "patients:correct": "CorrectPatientDocument",
  "patients:erase": "ErasePatient",
  "patients:export": "ExportPatient",
  "patients:merge": "MergePatients",
  "patients:read": `
    BatchGetPatients FindPatientByDocument GetPatient ListAccessRecords ListConsents ListPatientChanges ListPatients
    SearchPatients`,
  "patients:write": "SetPatientStatus",
  "reference:write": `
    CreateHealthcareService CreateLocation CreateOpportunityDefinition CreatePractitioner UpdateHealthcareService
    UpdateLocation UpdateOpportunityDefinition UpdatePractitioner`,
  "scheduling:correct": "CorrectAppointmentStatus CorrectAppointmentWait",
  "scheduling:enter-late": "EnterLateSteps EnterLateVisit",
  "scheduling:overbook": "OverbookAppointment",
  "scheduling:read": `
    FindSubstitutes GetAppointment GetHold GetMaterializationStatus GetOccupancy GetOpportunityIndicators GetProgram
    GetProgramPractitioners GetProgramRule GetProgramServices GetScheduleBlock ListAppointmentChanges
    ListAppointments ListDisplacedAppointments ListHolds ListHolidays ListOpportunityBreaches ListProgramRules
    ListPrograms ListScheduleBlocks MatchWaitlistEntry OfferDisplacedAppointmentOptions PreviewPractitionerChange
    PreviewProgramWindowChange PreviewRuleChange SearchAppointmentOptions SearchFreeSlots`,
  "scheduling:write": `
    AcceptDisplacedAppointments BookAppointment BookAppointmentAt BookSeries BookTogether CancelAppointment
    CancelScheduleBlock CancelSeries ChangeAppointment CheckInAppointment ConfirmAppointment CreateProgram
    CreateProgramRule CreateScheduleBlock HoldAppointmentOption MarkAppointmentAttended MarkAppointmentNoShow
    MaterializeSchedule MoveAppointment MoveSeries ReleaseHold ReplaceProgramServices SeedHolidays
    SubstitutePractitioner SwapPractitioners UpdateHoliday UpdateProgramWindow UpdateScheduleBlock`,
  "settings:read": "GetTenantSettings ListTenantSettingsChanges PreviewTenantSettingsChange",
  "settings:write": "UpdateTenantSettings",
  "tenants:manage": "CreateTenant EraseTenant ExportTenant GetTenant ListTenants ResumeTenant SuspendTenant",
  "webhooks:read": "GetWebhook ListWebhookDeliveries ListWebhooks",
  "webhooks:write": "CreateWebhook DeleteWebhook ReplayWebhook RotateWebhookSecret TestWebhook UpdateWebhook",
};

test("each operation of the clinic requires the scope that is expected here", () => {
  const expected = Object.entries(OPERATIONS).flatMap(([scope, names]) =>
    names
      .trim()
      .split(/\s+/)
      .map((name) => `${name} ${scope}`),
  );
  const actual = servedServices
    .flatMap(({ service }) => (isPublished(service) ? [] : service.methods))
    .map((method) => `${method.name} ${operationOf(method).scope}`);
  expect(actual.toSorted()).toEqual(expected.toSorted());
});
