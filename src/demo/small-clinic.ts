import { RequestSource_Channel as Channel } from "../gen/cupo/access/v1/request_source_pb.js";
import { OpportunityDefinition_DayKind as DayKind } from "../gen/cupo/clinic/v1/opportunity_definition_pb.js";
import type { DemoClinic } from "./demo-clinic.js";
import { invent } from "./invented-patients.js";

/**
 * The clinic of the second demo tenant. Some codes, a payer and patient documents are the same as in the first tenant,
 * to show the isolation of tenants. No row belongs to both tenants.
 */
export const smallClinic: DemoClinic = {
  tenantId: "0d3e0000-0000-4000-8000-000000000002",
  name: "Consultorios Bahía Serena",
  locations: [{ code: "CENTRO", name: "Sede Centro", address: "Calle 22 # 3-15, Santa Marta" }],
  services: [
    { code: "MEDGEN", name: "Medicina general" },
    { code: "ODONTO", name: "Odontología general" },
  ],
  practitioners: [
    { code: "P-01", fullName: "Yolima Esther Brito Daza", registrationNumber: "RM-130118" },
    { code: "P-02", fullName: "Hernán Darío Pabón Mejía", registrationNumber: "TP-211902" },
  ],
  opportunities: [{ code: "GENERAL", name: "Consulta general", maxWaitDays: 3, dayKind: DayKind.BUSINESS }],
  appointmentTypes: [{ code: "PRIMERA", name: "Consulta de primera vez", durationMinutes: 30, opportunity: "GENERAL" }],
  consultationTypes: [{ code: "PRESENCIAL", name: "Presencial", description: "En la sede, con cita." }],
  cancellationReasons: [{ code: "PACIENTE", name: "A solicitud del paciente", requiresComment: false }],
  noShowReasons: [{ code: "SIN-AVISO", name: "No asistió y no avisó", requiresComment: false }],
  requestSources: [{ code: "VENTANILLA", name: "Ventanilla", channel: Channel.IN_PERSON }],
  payers: [{ code: "EPS-PALMAR", name: "EPS Palmar del Caribe", taxId: "900000002-2" }],
  contracts: [{ code: "PALMAR-2026", name: "Palmar, todo", payer: "EPS-PALMAR", coveredServices: ["MEDGEN"] }],
  patients: invent(3),
  programs: [
    {
      code: "PRIMARIA",
      name: "Atención primaria, Centro",
      location: "CENTRO",
      services: ["MEDGEN", "ODONTO"],
      practitioners: ["P-01", "P-02"],
      rules: [
        {
          weekdays: [1, 2, 3, 4, 5, 6],
          startsAtLocal: "08:00",
          endsAtLocal: "12:00",
          slotDurationMinutes: 30,
          dailyCapacity: 16,
        },
      ],
    },
  ],
};
