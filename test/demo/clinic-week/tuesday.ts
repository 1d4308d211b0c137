import { expect } from "vitest";
import { AppointmentDetails_Status as Status } from "../../../src/gen/cupo/clinic/v1/appointment_details_pb.js";
import { PatientDetails_Status as PatientStatus } from "../../../src/gen/cupo/clinic/v1/patient_details_pb.js";
import type { WriteTask } from "./tasks.js";
import { given, momentOf } from "./week.js";

const [MARIA, JUAN] = ["María Fernanda Quintero Rojas", "Juan Camilo Ospina Arango"];

/** Tuesday: patients arrive, are late or do not come, and the directory is corrected. */
export function tuesday(task: WriteTask): void {
  task("Confirm an appointment", async (week) => {
    week.itIs("Tuesday", "06:30");
    const { appointment } = await week.reception.booking.confirmAppointment(week.latest(MARIA));
    expect(week.keep(MARIA, appointment).status).toBe(Status.CONFIRMED);
  });

  task("Check in a late patient", async (week) => {
    week.itIs("Tuesday", "07:10");
    const { appointment } = await week.reception.booking.checkInAppointment(week.latest(MARIA));
    expect(week.keep(MARIA, appointment).status).toBe(Status.CHECKED_IN);
  });

  task("Mark an appointment attended", async (week) => {
    week.itIs("Tuesday", "07:25");
    const { appointment } = await week.reception.booking.markAppointmentAttended(week.latest(MARIA));
    expect(week.keep(MARIA, appointment).status).toBe(Status.ATTENDED);
  });

  task("Mark a no-show", async (week) => {
    week.itIs("Tuesday", "07:36");
    const noShowReasonId = week.id("no-show reason", "SIN-AVISO");
    const { appointment } = await week.reception.booking.markAppointmentNoShow({
      ...week.latest(JUAN),
      noShowReasonId,
    });
    expect(week.keep(JUAN, appointment).status).toBe(Status.NO_SHOW);
  });

  task("Read a patient's no-shows", async (week) => {
    const { patientId, appointmentId } = week.kept(JUAN);
    const { appointments } = await week.reception.booking.listAppointments({ patientId, statuses: [Status.NO_SHOW] });
    expect(appointments.map((each) => each.appointmentId)).toEqual([appointmentId]);
  });

  task("Correct a no-show", async (week) => {
    const { appointment } = await week.supervisor.booking.correctAppointmentStatus({
      ...week.latest(JUAN),
      status: Status.CONFIRMED,
      reason: "Esperaba en la otra sala.",
    });
    expect(week.keep(JUAN, appointment)).toMatchObject({ status: Status.CONFIRMED, version: 3 });
    expect(week.kept(JUAN).noShowReasonId).toBeUndefined();
  });

  task("Correct a patient's document", async (week) => {
    const { directory } = week.supervisor;
    const { patient } = await directory.findPatientByDocument({ documentType: "CC", documentNumber: "90000101" });
    const { patientId, version } = given(patient);
    const corrected = await directory.correctPatientDocument({
      patientId,
      expectedVersion: version,
      documentType: "CC",
      documentNumber: "90000110",
      reason: "Se digitó mal en la ventanilla.",
    });
    expect(corrected.patient).toMatchObject({ patientId, documentNumber: "90000110", version: version + 1 });
  });

  task("Merge two records of one patient", async (week) => {
    await week.others.registration.registerPatient({
      documentType: "PA",
      documentNumber: "AV900003",
      fullName: "Luz Dary Becerra Muñoz",
      phone: "+57 300 555 1003",
      consentGrantedAt: momentOf("Monday", "06:50"),
    });
    const { directory } = week.supervisor;
    const { patients } = await directory.searchPatients({ name: "Luz Dary Becerra Muñoz" });
    expect(patients).toHaveLength(2);
    const survivor = given(patients.find(({ documentType }) => documentType === "CC"));
    const duplicate = given(patients.find(({ documentType }) => documentType === "PA"));
    const merged = await directory.mergePatients({
      survivorPatientId: survivor.patientId,
      survivorExpectedVersion: survivor.version,
      duplicatePatientId: duplicate.patientId,
      duplicateExpectedVersion: duplicate.version,
      reason: "La misma persona se registró con el pasaporte.",
    });
    expect(merged.duplicate).toMatchObject({
      status: PatientStatus.INACTIVE,
      mergedIntoPatientId: survivor.patientId,
    });
  });
}
