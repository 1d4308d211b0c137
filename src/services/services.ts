import type { DescService } from "@bufbuild/protobuf";
import { AppointmentService } from "../gen/cupo/access/v1/appointment_service_pb.js";
import { CatalogService } from "../gen/cupo/access/v1/catalog_service_pb.js";
import { EligibilityService } from "../gen/cupo/access/v1/eligibility_service_pb.js";
import { PatientService } from "../gen/cupo/access/v1/patient_service_pb.js";
import { SchedulingConfigurationService } from "../gen/cupo/access/v1/scheduling_configuration_service_pb.js";
import { UserAttentionService } from "../gen/cupo/access/v1/user_attention_service_pb.js";
import { WaitlistService } from "../gen/cupo/access/v1/waitlist_service_pb.js";
import { BookingService } from "../gen/cupo/clinic/v1/booking_service_pb.js";
import { CatalogAdminService } from "../gen/cupo/clinic/v1/catalog_admin_service_pb.js";
import { DeskService } from "../gen/cupo/clinic/v1/desk_service_pb.js";
import { DisplacedAppointmentService } from "../gen/cupo/clinic/v1/displaced_appointment_service_pb.js";
import { EligibilityAuditService } from "../gen/cupo/clinic/v1/eligibility_audit_service_pb.js";
import { EventService } from "../gen/cupo/clinic/v1/event_service_pb.js";
import { HoldService } from "../gen/cupo/clinic/v1/hold_service_pb.js";
import { ImportService } from "../gen/cupo/clinic/v1/import_service_pb.js";
import { NoteService } from "../gen/cupo/clinic/v1/note_service_pb.js";
import { OccupancyService } from "../gen/cupo/clinic/v1/occupancy_service_pb.js";
import { OperationsService } from "../gen/cupo/clinic/v1/operations_service_pb.js";
import { OpportunityService } from "../gen/cupo/clinic/v1/opportunity_service_pb.js";
import { PatientDirectoryService } from "../gen/cupo/clinic/v1/patient_directory_service_pb.js";
import { ProgramService } from "../gen/cupo/clinic/v1/program_service_pb.js";
import { ReferenceDataService } from "../gen/cupo/clinic/v1/reference_data_service_pb.js";
import { ScheduleBlockService } from "../gen/cupo/clinic/v1/schedule_block_service_pb.js";
import { SeriesService } from "../gen/cupo/clinic/v1/series_service_pb.js";
import { TenantService } from "../gen/cupo/clinic/v1/tenant_service_pb.js";
import { TenantSettingsService } from "../gen/cupo/clinic/v1/tenant_settings_service_pb.js";
import { WebhookService } from "../gen/cupo/clinic/v1/webhook_service_pb.js";
import type { OptionTokens } from "../option-tokens/option-tokens.js";
import type { VisitMargins } from "../scheduling/visit-times.js";
import { createAppointmentService } from "./appointments/appointment-service.js";
import { createBookingService } from "./appointments/booking-service.js";
import { createOccupancyService } from "./appointments/occupancy-service.js";
import { createCatalogAdminService } from "./catalogs/catalog-admin-service.js";
import { createCatalogService } from "./catalogs/catalog-service.js";
import { createReferenceDataService } from "./catalogs/reference-data-service.js";
import { createCorrectionMethods } from "./corrections/correction-methods.js";
import { createDeskService } from "./desk/desk-service.js";
import { createUserAttentionService } from "./desk/user-attention-service.js";
import { createWaitlistService } from "./desk/waitlist-service.js";
import { createDisplacedAppointmentService } from "./displaced/displaced-appointment-service.js";
import { createEligibilityAuditService } from "./eligibility/eligibility-audit-service.js";
import { createEligibilityService } from "./eligibility/eligibility-service.js";
import { createEventService } from "./events/event-service.js";
import type { WatchPorts } from "./events/watch-events.js";
import { createHoldService } from "./holds/hold-service.js";
import { createImportService } from "./imports/import-service.js";
import type { ValidatorOf } from "./imports/row-validation.js";
import { createNoteService } from "./notes/note-service.js";
import { createOperationsService } from "./operations/operations-service.js";
import { createOpportunityService } from "./opportunity/opportunity-service.js";
import { createPatientDirectoryService } from "./patients/patient-directory-service.js";
import { createPatientService } from "./patients/patient-service.js";
import type { SlotLimits } from "./schedule/plan-budget.js";
import { createProgramService } from "./schedule/program-service.js";
import { createScheduleBlockService } from "./schedule/schedule-block-service.js";
import { createScheduleFollowers } from "./schedule/schedule-followers.js";
import { createSchedulingConfigurationService } from "./schedule/scheduling-configuration-service.js";
import { createSeriesService } from "./series/series-service.js";
import { createTenantSettingsService } from "./settings/tenant-settings-service.js";
import { createTenantService, type TenantPorts } from "./tenants/tenant-service.js";
import { createWebhookService, type WebhookPorts } from "./webhooks/webhook-service.js";

/** The dependencies of the services. */
export interface ServicePorts extends Pick<TenantPorts, "isOperator"> {
  readonly tokens: OptionTokens;
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
  readonly slotLimits: SlotLimits;
  /** The highest number of holds that a principal can have at the same time. Ended and expired holds do not count. */
  readonly holdsPerPrincipal: number;
  readonly visitMargins: VisitMargins;
  readonly events: WatchPorts;
  readonly webhooks: WebhookPorts;
  /** Compiles the validation of a message type. The import uses it for its rows. */
  readonly validatorOf: ValidatorOf;
}

/**
 * A proto service and its implemented methods. A method without an implementation returns `unimplemented`, or 404 over
 * REST.
 */
export interface ServiceEntry {
  readonly service: DescService;
  readonly implementation: object;
}

/** The descriptions of all services, for code that needs no implementation. */
export const servedServices: readonly Pick<ServiceEntry, "service">[] = [
  { service: PatientService },
  { service: AppointmentService },
  { service: EligibilityService },
  { service: WaitlistService },
  { service: UserAttentionService },
  { service: CatalogService },
  { service: SchedulingConfigurationService },
  { service: ReferenceDataService },
  { service: CatalogAdminService },
  { service: ProgramService },
  { service: BookingService },
  { service: SeriesService },
  { service: HoldService },
  { service: PatientDirectoryService },
  { service: DeskService },
  { service: EligibilityAuditService },
  { service: OperationsService },
  { service: OccupancyService },
  { service: OpportunityService },
  { service: NoteService },
  { service: ScheduleBlockService },
  { service: DisplacedAppointmentService },
  { service: EventService },
  { service: TenantSettingsService },
  { service: TenantService },
  { service: WebhookService },
  { service: ImportService },
];

/** Creates every service. REST and RPC both use this list, so they always have the same operations. */
export function createServices(ports: ServicePorts): readonly ServiceEntry[] {
  return [...createPublishedServices(ports), ...createClinicServices(ports)];
}

function createPublishedServices({ now, tokens, slotLimits }: ServicePorts): readonly ServiceEntry[] {
  return [
    { service: PatientService, implementation: createPatientService(now) },
    { service: AppointmentService, implementation: createAppointmentService(now, tokens) },
    { service: EligibilityService, implementation: createEligibilityService(now) },
    { service: WaitlistService, implementation: createWaitlistService(now) },
    { service: UserAttentionService, implementation: createUserAttentionService(now) },
    { service: CatalogService, implementation: createCatalogService(now) },
    {
      service: SchedulingConfigurationService,
      implementation: createSchedulingConfigurationService({ now, slotLimits }),
    },
  ];
}

function createClinicServices(ports: ServicePorts): readonly ServiceEntry[] {
  const { now, tokens, slotLimits, events, webhooks, visitMargins: margins, validatorOf } = ports;
  return [
    {
      service: ReferenceDataService,
      implementation: createReferenceDataService(now, createScheduleFollowers(slotLimits)),
    },
    { service: CatalogAdminService, implementation: createCatalogAdminService(now) },
    { service: ProgramService, implementation: createProgramService({ now, slotLimits }) },
    { service: BookingService, implementation: createBookingMethods(ports) },
    { service: SeriesService, implementation: createSeriesService(now) },
    { service: HoldService, implementation: createHoldService(ports) },
    { service: PatientDirectoryService, implementation: createPatientDirectoryService(now) },
    { service: DeskService, implementation: createDeskService(now) },
    { service: EligibilityAuditService, implementation: createEligibilityAuditService() },
    { service: OperationsService, implementation: createOperationsService(now) },
    { service: OccupancyService, implementation: createOccupancyService(now) },
    { service: OpportunityService, implementation: createOpportunityService(now) },
    { service: NoteService, implementation: createNoteService(now) },
    { service: ScheduleBlockService, implementation: createScheduleBlockService({ now, slotLimits }) },
    { service: DisplacedAppointmentService, implementation: createDisplacedAppointmentService(now, tokens) },
    { service: EventService, implementation: createEventService(events) },
    {
      service: TenantSettingsService,
      implementation: createTenantSettingsService({ now, slotLimits, visitMargins: margins }),
    },
    { service: TenantService, implementation: createTenantService(ports) },
    { service: WebhookService, implementation: createWebhookService(now, webhooks) },
    { service: ImportService, implementation: createImportService({ now, margins, validatorOf }) },
  ];
}

function createBookingMethods({ now, tokens, visitMargins }: ServicePorts): object {
  return { ...createBookingService(now, tokens, visitMargins), ...createCorrectionMethods(now, visitMargins) };
}
