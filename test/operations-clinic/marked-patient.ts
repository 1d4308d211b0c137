import { randomInt, randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import * as fixtures from "../contract/fixtures.js";
import { rpcNamed } from "../contract/published-operations.js";
import { appointmentIn, awaitStep, bookFirst, type Clinic, call, day, mustCall } from "../schedule/clinic.js";
import { type PatientBody, patientOf, registration } from "../support/registration.js";
import { callRpc } from "../support/rpc.js";
import { deskFixtures } from "./desk-fixtures.js";
import { timedBooking } from "./timed-bookings.js";

/**
 * A person with each kind of record in the clinic, all finished except one waitlist entry. Each field in which a caller
 * can write about a patient contains one of the marks. Add new fields here too.
 */
export interface MarkedPatient {
  readonly patient: PatientBody;
  readonly duplicate: PatientBody;
  /** Ids of an attended, a cancelled and an overbooked appointment, in this order. */
  readonly appointmentIds: readonly string[];
  /** Ids of an open and a closed entry. */
  readonly entryIds: readonly string[];
  /** Ids of a case about the patient, and of one about the first appointment. */
  readonly caseIds: readonly string[];
  readonly noteIds: readonly string[];
  /** Ids of the eligibility decisions for the patient and for the duplicate. */
  readonly decisionIds: readonly string[];
  /** The idempotency key and the request body of the registration. */
  readonly key: string;
  readonly registered: JsonObject;
  /** Lower-case texts that occur only in data of this person. */
  readonly marks: readonly string[];
}

/** Creates a person in the clinic's tenant. Advances the clock to the day of the first appointment. */
export async function markedPatient(clinic: Clinic): Promise<MarkedPatient> {
  const mark = `zorzal${Array.from({ length: 10 }, () => String.fromCodePoint(randomInt(97, 123))).join("")}`;
  const [document, former, phone] = Array.from({ length: 3 }, () => String(randomInt(2_000_000_000, 9_999_999_999)));
  const key = randomUUID();
  const registered: JsonObject = {
    ...registration(),
    documentType: `PEP-${mark}`,
    fullName: `Luz Marina ${mark}`,
    documentNumber: `${former}`,
    phone: `+57 ${phone}`,
    email: `${mark}@example.com`,
  };
  const first = await callRpc(clinic.service, rpcNamed("RegisterPatient"), registered, {
    as: clinic.as,
    headers: { "idempotency-key": key },
  });
  const { patient } = first.body as unknown as { patient: PatientBody };
  const duplicate = await twin(clinic, mark);
  const must = (rpc: string, request: JsonObject) => mustCall(clinic, rpc, request);
  const corrected = { documentType: `CE-${mark}`, documentNumber: `${document}` };
  await must("CorrectPatientDocument", {
    patientId: patient.id,
    ...corrected,
    reason: `Digitado mal para ${mark}.`,
    expectedVersion: 1,
  });
  await must("MergePatients", {
    survivorPatientId: patient.id,
    survivorExpectedVersion: 2,
    duplicatePatientId: duplicate.id,
    duplicateExpectedVersion: 1,
    reason: `La misma persona, ${mark}.`,
  });
  const desk = await deskOf(clinic, patient.id, mark);
  const appointmentIds = await appointmentsOf(clinic, patient.id, mark);
  const visit = await desk.complain({ appointmentId: appointmentIds[0] ?? "" });
  const noteIds = [
    await desk.note({ patientId: patient.id }),
    await desk.note({ appointmentId: appointmentIds[0] ?? "" }),
    await desk.note({ patientId: duplicate.id }),
  ];
  return {
    patient: { ...patient, ...corrected, version: 3 },
    duplicate: { ...duplicate, version: 2 },
    appointmentIds,
    entryIds: desk.entryIds,
    caseIds: [desk.caseId, visit],
    noteIds,
    decisionIds: [await decisionOn(clinic, patient.id), await decisionOn(clinic, duplicate.id)],
    key,
    registered,
    marks: [mark, `${document}`, `${former}`, `${phone}`, reversed(`${phone}`)],
  };
}

/** Reverses digits. Search words of telephone numbers are stored from the last digit on. */
function reversed(digits: string): string {
  return Array.from(digits).toReversed().join("");
}

async function twin({ service, as }: Clinic, mark: string): Promise<PatientBody> {
  const token = await service.token({ ...as, client: randomUUID() });
  const body = registration({ fullName: `Luz M ${mark}`, email: `otra.${mark}@example.com` });
  return patientOf(await service.request("POST", "/patients", { token, body }));
}

async function deskOf(clinic: Clinic, patientId: string, mark: string) {
  const make = deskFixtures(clinic.service, clinic.as);
  const { serviceId } = clinic;
  const complain = async (about: JsonObject) => {
    const texts = { externalReference: `REF ${mark}`, description: `Habló ${mark} de la espera.` };
    const userAttentionCaseId = await make.attentionCase({ ...about, ...texts });
    const closing = { userAttentionCaseId, expectedVersion: 1, reason: `Se llamó a ${mark}.` };
    await mustCall(clinic, "CloseCase", closing);
    return userAttentionCaseId;
  };
  const open = await make.entry({ patientId, serviceId });
  const closed = await make.entry({ patientId, serviceId });
  const closing = { waitlistEntryId: closed, expectedVersion: 1, reason: `Ya no espera ${mark}.` };
  await mustCall(clinic, "CloseWaitlistEntry", closing);
  return {
    entryIds: [open, closed],
    caseId: await complain({ patientId }),
    complain,
    async note(about: JsonObject) {
      const { note } = await mustCall(clinic, "CreateNote", { ...about, text: `A ${mark} la acompaña su hija.` });
      return (note as { noteId: string }).noteId;
    },
  };
}

async function appointmentsOf(clinic: Clinic, patientId: string, mark: string): Promise<string[]> {
  const cancellationReasonId = await fixtures.cancellationReason.create(clinic.service, clinic.as);
  const cancel = async (appointmentId: string, expectedVersion = 1) =>
    mustCall(clinic, "CancelAppointment", {
      appointmentId,
      expectedVersion,
      cancellationReasonId,
      comment: `Avisó el esposo de ${mark}.`,
    });
  const attended = await bookFirst(clinic, patientId);
  const later = { dateFrom: day(clinic, 9), dateTo: day(clinic, 9) };
  const cancelled = await bookFirst(clinic, patientId, later);
  const startsAt = `${day(clinic, 12)}T19:00:00-05:00`;
  const beside = await timedBooking(clinic, { patientId, startsAt, durationMinutes: 20 });
  const overbooked = appointmentIn(
    await call(clinic, "OverbookAppointment", { ...beside, reason: `${mark} viene de lejos.` }),
  );
  await cancel(overbooked.appointmentId);
  const { appointmentId } = attended;
  const video = { appointmentId: cancelled.appointmentId, modality: "VIDEO" };
  for (const [i, room] of ["antes", "sala"].entries()) {
    const joinLink = `https://video.example.com/${room}-${mark}`;
    await mustCall(clinic, "ChangeAppointment", { ...video, joinLink, expectedVersion: i + 1 });
  }
  await cancel(cancelled.appointmentId, 3);
  for (const [i, step] of ["ConfirmAppointment", "CheckInAppointment"].entries()) {
    awaitStep(clinic, step, attended);
    await mustCall(clinic, step, { appointmentId, expectedVersion: i + 1 });
  }
  const correction = { appointmentId, status: "CONFIRMED", expectedVersion: 3, reason: `No era ${mark}.` };
  await mustCall(clinic, "CorrectAppointmentStatus", correction);
  for (const [i, step] of ["CheckInAppointment", "MarkAppointmentAttended"].entries()) {
    await mustCall(clinic, step, { appointmentId, expectedVersion: i + 4 });
  }
  return [appointmentId, cancelled.appointmentId, overbooked.appointmentId];
}

async function decisionOn({ service, as, serviceId }: Clinic, patientId: string): Promise<string> {
  const payerId = await fixtures.payer.create(service, as);
  const contractId = await fixtures.contract.create(service, as);
  const request = { patientId, payerId, contractId, serviceId, serviceDate: "2027-01-12" };
  const { body } = await callRpc(service, rpcNamed("CheckEligibility"), request, { as });
  return (body as unknown as { eligibilityDecision: { decisionId: string } }).eligibilityDecision.decisionId;
}
