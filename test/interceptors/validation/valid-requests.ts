import { create, type DescMessage, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { AppointmentService } from "../../../src/gen/cupo/access/v1/appointment_service_pb.js";
import { CatalogService } from "../../../src/gen/cupo/access/v1/catalog_service_pb.js";
import { EligibilityService } from "../../../src/gen/cupo/access/v1/eligibility_service_pb.js";
import { PatientService } from "../../../src/gen/cupo/access/v1/patient_service_pb.js";
import { ProgramRule_HolidayPolicy, ProgramRule_Recurrence } from "../../../src/gen/cupo/access/v1/program_rule_pb.js";
import { RequestSource_Channel } from "../../../src/gen/cupo/access/v1/request_source_pb.js";
import { SchedulingConfigurationService } from "../../../src/gen/cupo/access/v1/scheduling_configuration_service_pb.js";
import { UserAttentionCase_Category } from "../../../src/gen/cupo/access/v1/user_attention_case_pb.js";
import { UserAttentionService } from "../../../src/gen/cupo/access/v1/user_attention_service_pb.js";
import { WaitlistEntry_Period } from "../../../src/gen/cupo/access/v1/waitlist_entry_pb.js";
import { WaitlistService } from "../../../src/gen/cupo/access/v1/waitlist_service_pb.js";

export const UUID = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
export const OTHER_UUID = "0190163d-8694-739b-aea5-966c26f8ad91";

export type Members = Readonly<Record<string, unknown>>;

/** A request whose members satisfy every rule. */
export interface ValidRequest {
  readonly schema: DescMessage;
  /** The members without which the request is rejected. */
  readonly required: Members;
  readonly optional: Members;
}

const { registerPatient, updatePatient } = PatientService.method;
const { updateProgram, updateProgramRule, replaceProgramPractitioners, createHoliday } =
  SchedulingConfigurationService.method;
const catalog = CatalogService.method;
const named = { code: "GEN 01", name: "Consulta general" };
const change = { id: UUID, expectedVersion: 1 };

/** One valid request per operation, with every member. */
export const validRequests: readonly ValidRequest[] = [
  valid(
    registerPatient,
    {
      documentType: "CC",
      documentNumber: "1.020.304-050",
      fullName: "María Ñáñez",
      phone: "+57 300 123 4567",
      consentGrantedAt: { seconds: 1_790_000_000n, nanos: 0 },
    },
    { email: "maria@example.com" },
  ),
  valid(
    updatePatient,
    { patientId: "not a UUID", fullName: "李小龍", phone: "12345", expectedVersion: 1 },
    { email: "a@b.co", updateMask: { paths: ["email"] } },
  ),
  valid(AppointmentService.method.rescheduleAppointment, {
    appointmentId: "opaque",
    optionToken: "token",
    expectedVersion: 0,
  }),
  valid(EligibilityService.method.checkEligibility, {
    patientId: UUID,
    payerId: UUID,
    contractId: UUID,
    serviceId: UUID,
    serviceDate: "2024-02-29",
  }),
  valid(
    WaitlistService.method.createWaitlistEntry,
    {
      patientId: UUID,
      serviceId: UUID,
      dateFrom: "2026-03-01",
      dateTo: "2026-03-01",
      preferredPeriods: [WaitlistEntry_Period.NIGHT, WaitlistEntry_Period.MORNING],
    },
    { locationId: UUID, practitionerId: UUID },
  ),
  valid(
    UserAttentionService.method.createCase,
    {
      category: UserAttentionCase_Category.COMPLAINT,
      externalReference: "PQR-2026/17",
      description: "Esperé dos horas.\n\tNadie avisó.",
    },
    { patientId: UUID, appointmentId: UUID },
  ),
  valid(catalog.createAppointmentType, {
    ...named,
    durationMinutes: 30,
    opportunityDefinitionId: UUID,
    active: false,
  }),
  valid(catalog.updateAppointmentType, change, {
    ...named,
    durationMinutes: 30,
    opportunityDefinitionId: UUID,
    active: false,
  }),
  valid(catalog.createContract, {
    ...named,
    payerId: UUID,
    validFrom: "2026-01-01",
    validTo: "2026-12-31",
    active: true,
  }),
  valid(catalog.updateConsultationType, change, { ...named, description: "", active: true }),
  valid(catalog.createCancellationReason, { ...named, requiresComment: false, active: true }),
  valid(catalog.updateCancellationReason, change, { ...named, requiresComment: false, active: true }),
  valid(catalog.updateNoShowReason, change, { ...named, requiresComment: true, active: true }),
  valid(catalog.createRequestSource, { ...named, channel: RequestSource_Channel.PHONE, active: true }),
  valid(catalog.updateRequestSource, change, { ...named, channel: RequestSource_Channel.PARTNER, active: true }),
  valid(catalog.createPayer, { ...named, taxId: "900.123.456-7", active: true }),
  valid(
    updateProgram,
    { programId: UUID, expectedVersion: 1 },
    { ...named, emergency: false, locationId: UUID, active: true },
  ),
  valid(
    updateProgramRule,
    { programId: UUID, ruleId: UUID, expectedVersion: 1 },
    {
      active: true,
      dailyCapacity: 20,
      slotDurationMinutes: 30,
      startsAtLocal: "08:00",
      endsAtLocal: "12:00:00",
      recurrence: ProgramRule_Recurrence.WEEKLY,
      weekdays: [1, 2, 3, 4, 5, 6, 7],
      validFrom: "2026-12-31",
      validTo: "2026-01-01",
      holidayDates: ["2026-01-01"],
      holidayPolicy: ProgramRule_HolidayPolicy.SKIP,
      updateMask: { paths: ["weekdays", "holiday_dates"] },
    },
  ),
  valid(replaceProgramPractitioners, { programId: UUID, expectedVersion: 1 }, { practitionerIds: [UUID, OTHER_UUID] }),
  valid(createHoliday, { date: "2026-07-20", name: "Día de la Independencia", active: true }),
];

/** Returns the complete valid request of that name with some members replaced. Undefined removes a member. */
export function requestWith(name: string, replaced: Members): readonly [DescMessage, MessageShape<DescMessage>] {
  const found = validRequests.find(({ schema }) => schema.name === name);
  if (found === undefined) throw new Error(`there is no valid ${name}`);
  return [found.schema, messageOf(found.schema, { ...found.required, ...found.optional, ...replaced })];
}

/** Returns a message with members whose types only the test knows. */
export function messageOf(schema: DescMessage, members: Members): MessageShape<DescMessage> {
  return create(schema, members as MessageInitShape<DescMessage>);
}

function valid(method: { readonly input: DescMessage }, required: Members, optional: Members = {}): ValidRequest {
  return { schema: method.input, required, optional };
}
