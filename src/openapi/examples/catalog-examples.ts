import { demo } from "./demo-ids.js";
import { example, type RequestExamples } from "./request-example.js";

/** Examples for the RPCs of `cupo.access.v1` that create or update catalogs. */
export const catalogExamples: RequestExamples = {
  CreateAppointmentType: example({
    code: "TELECONTROL",
    name: "Control por teleconsulta",
    durationMinutes: 20,
    opportunityDefinitionId: demo.opportunity.general,
    active: true,
  }),
  UpdateAppointmentType: example({
    id: demo.appointmentType.control,
    name: "Consulta de control, presencial",
    expectedVersion: 1,
  }),
  CreateContract: example({
    code: "AURORA-PLUS",
    name: "Aurora, plan complementario",
    payerId: demo.payer.aurora,
    validFrom: "2026-01-01",
    validTo: "2027-12-31",
    active: true,
  }),
  UpdateConsultationType: example({
    id: demo.consultationType.atHome,
    description: "En la casa del paciente, dentro del perímetro urbano.",
    expectedVersion: 1,
  }),
  CreateCancellationReason: example({ code: "LLUVIA", name: "Vías cerradas", requiresComment: true, active: true }),
  UpdateCancellationReason: example({
    id: demo.cancellationReason.closure,
    requiresComment: false,
    expectedVersion: 1,
  }),
  UpdateNoShowReason: example({
    id: demo.noShowReason.late,
    name: "Llegó después de quince minutos",
    expectedVersion: 1,
  }),
  CreateRequestSource: example({
    code: "QUIOSCO",
    name: "Quiosco de autoservicio",
    channel: "IN_PERSON",
    active: true,
  }),
  UpdateRequestSource: example({ id: demo.requestSource.partners, channel: "WEB", expectedVersion: 1 }),
  CreatePayer: example({ code: "EPS-CEIBA", name: "EPS La Ceiba", taxId: "900000009-9", active: true }),
};

/** Examples for the RPCs of `cupo.clinic.v1` on catalogs. */
export const catalogAdminExamples: RequestExamples = {
  CreateConsultationType: example({
    code: "DOMINICAL",
    name: "Jornada dominical",
    description: "En la sede, los domingos.",
    active: true,
  }),
  CreateNoShowReason: example({ code: "TRANSPORTE", name: "No tuvo transporte", requiresComment: false, active: true }),
  UpdateAppointmentTypeBuffer: example({
    appointmentTypeId: demo.appointmentType.first,
    expectedVersion: 1,
    bufferMinutes: 10,
  }),
  UpdatePayer: example({ payerId: demo.payer.horizonte, name: "Horizonte, medicina prepagada", expectedVersion: 1 }),
  UpdateContract: example({
    contractId: demo.contract.auroraSpecialists,
    name: "Aurora, plan de especialidades",
    expectedVersion: 2,
  }),
  ReplaceCoveredServices: example({
    contractId: demo.contract.palmar,
    serviceIds: [demo.service.general, demo.service.nutrition],
    expectedVersion: 2,
  }),
  GetCoveredServices: example({ contractId: demo.contract.auroraBasic }),
  GetAppointmentType: example({ appointmentTypeId: demo.appointmentType.first }),
  ListAppointmentTypes: example({ pageSize: 20, active: true }),
  GetConsultationType: example({ consultationTypeId: demo.consultationType.inPerson }),
  ListConsultationTypes: example({ pageSize: 20 }),
  GetCancellationReason: example({ cancellationReasonId: demo.cancellationReason.patient }),
  ListCancellationReasons: example({ pageSize: 20 }),
  GetNoShowReason: example({ noShowReasonId: demo.noShowReason.noNotice }),
  ListNoShowReasons: example({ pageSize: 20 }),
  GetRequestSource: example({ requestSourceId: demo.requestSource.portal }),
  ListRequestSources: example({ pageSize: 20 }),
  GetPayer: example({ payerId: demo.payer.aurora }),
  ListPayers: example({ code: "EPS-AURORA" }),
  GetContract: example({ contractId: demo.contract.auroraBasic }),
  ListContracts: example({ payerId: demo.payer.aurora }),
};
