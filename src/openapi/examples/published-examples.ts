import { demo } from "./demo-ids.js";
import { type Day, example, type RequestExamples, UNKNOWN_ID } from "./request-example.js";

const undated: RequestExamples = {
  RegisterPatient: example({
    documentType: "CC",
    documentNumber: "1019283746",
    fullName: "Clara Inés Botero Ruiz",
    phone: "+57 300 555 0100",
    email: "clara.botero@example.com",
    consentGrantedAt: "2026-01-15T10:00:00-05:00",
  }),
  UpdatePatient: example({
    patientId: demo.patient.becerra,
    fullName: "Luz Dary Becerra de Muñoz",
    phone: "601 555 0142",
    expectedVersion: 1,
  }),
  RescheduleAppointment: {
    request: { appointmentId: UNKNOWN_ID, optionToken: "the token of an option", expectedVersion: 1 },
    taken: {
      appointmentId: { example: "BookAppointment", member: "appointment.appointmentId" },
      optionToken: { example: "SearchAppointmentOptions toMove", member: "options[0].optionToken" },
    },
  },
  CheckEligibility: example({
    patientId: demo.patient.quintero,
    payerId: demo.payer.aurora,
    contractId: demo.contract.auroraBasic,
    serviceId: demo.service.general,
    serviceDate: "2027-01-12",
  }),
  CreateCase: example({
    category: "COMPLAINT",
    externalReference: "PQR-2026-0417",
    description: "Esperé una hora en la sala y nadie me dijo por qué.",
    patientId: demo.patient.quintero,
  }),
};

/**
 * Examples for these RPCs of `cupo.access.v1`: RegisterPatient, UpdatePatient, RescheduleAppointment, CheckEligibility,
 * CreateCase and CreateWaitlistEntry.
 */
export function publishedExamples(day: Day): RequestExamples {
  return {
    ...undated,
    CreateWaitlistEntry: example({
      patientId: demo.patient.ospina,
      serviceId: demo.service.general,
      dateFrom: day(1),
      dateTo: day(60),
      preferredPeriods: ["MORNING", "AFTERNOON"],
      locationId: demo.location.chapinero,
    }),
  };
}
