import type {
  AppointmentTypeAttributes,
  ConsultationTypeAttributes,
  ReasonAttributes,
  RequestSourceAttributes,
} from "../../postgres/tables/catalogs/catalogs.js";
import type { OpportunityDefinitionAttributes } from "../../postgres/tables/catalogs/reference-data.js";

type Default<A> = Omit<A, "active">;

/** An appointment type, with the code of its opportunity definition. */
export interface DefaultAppointmentType
  extends Default<Omit<AppointmentTypeAttributes, "bufferMinutes" | "opportunityDefinitionId">> {
  readonly opportunity: string;
}

/**
 * The catalogs of a tenant that is created with defaults, in Spanish. The large demo clinic
 * (`src/demo/large-clinic.ts`) has the same catalogs.
 */
export interface DefaultCatalogs {
  readonly opportunities: readonly Default<Omit<OpportunityDefinitionAttributes, "caseCategory">>[];
  readonly appointmentTypes: readonly DefaultAppointmentType[];
  readonly consultationTypes: readonly (Default<ConsultationTypeAttributes> & { readonly description: string })[];
  readonly cancellationReasons: readonly Default<ReasonAttributes>[];
  readonly noShowReasons: readonly Default<ReasonAttributes>[];
  readonly requestSources: readonly Default<RequestSourceAttributes>[];
}

export const defaultCatalogs: DefaultCatalogs = {
  opportunities: [
    { code: "GENERAL", name: "Consulta general", maxWaitDays: 3, dayKind: "BUSINESS" },
    { code: "ODONTOLOGIA", name: "Consulta odontológica", maxWaitDays: 3, dayKind: "BUSINESS" },
    { code: "PRIORITARIA", name: "Consulta prioritaria", maxWaitDays: 2, dayKind: "CALENDAR" },
    { code: "ESPECIALIZADA", name: "Consulta especializada", maxWaitDays: 15, dayKind: "CALENDAR" },
  ],
  appointmentTypes: [
    { code: "PRIMERA", name: "Consulta de primera vez", durationMinutes: 30, opportunity: "GENERAL" },
    { code: "CONTROL", name: "Consulta de control", durationMinutes: 20, opportunity: "GENERAL" },
    { code: "PRIORITARIA", name: "Consulta prioritaria", durationMinutes: 20, opportunity: "PRIORITARIA" },
    { code: "ESP-PRIMERA", name: "Especialista, primera vez", durationMinutes: 40, opportunity: "ESPECIALIZADA" },
    { code: "ESP-CONTROL", name: "Especialista, control", durationMinutes: 30, opportunity: "ESPECIALIZADA" },
    { code: "ODONTO", name: "Valoración odontológica", durationMinutes: 30, opportunity: "ODONTOLOGIA" },
  ],
  consultationTypes: [
    { code: "PRESENCIAL", name: "Presencial", description: "En la sede, con cita." },
    { code: "TELECONSULTA", name: "Teleconsulta", description: "Por video, con enlace enviado antes de la cita." },
    { code: "DOMICILIARIA", name: "Domiciliaria", description: "En la casa del paciente." },
  ],
  cancellationReasons: [
    { code: "PACIENTE", name: "A solicitud del paciente", requiresComment: false },
    { code: "PROFESIONAL", name: "Ausencia del profesional", requiresComment: false },
    { code: "SEDE", name: "Cierre de la sede", requiresComment: true },
    { code: "OTRA", name: "Otra causa", requiresComment: true },
  ],
  noShowReasons: [
    { code: "SIN-AVISO", name: "No asistió y no avisó", requiresComment: false },
    { code: "TARDE", name: "Llegó fuera del tiempo de espera", requiresComment: false },
    { code: "SIN-DOCUMENTOS", name: "Sin documentos o autorización", requiresComment: true },
  ],
  requestSources: [
    { code: "CALLCENTER", name: "Línea telefónica", channel: "PHONE" },
    { code: "PORTAL", name: "Portal web", channel: "WEB" },
    { code: "VENTANILLA", name: "Ventanilla", channel: "IN_PERSON" },
    { code: "ALIADOS", name: "Red de aliados", channel: "PARTNER" },
  ],
};
