import { expect } from "vitest";
import { AppointmentDetails_Status } from "../../../src/gen/cupo/clinic/v1/appointment_details_pb.js";
import type { WriteTask } from "./tasks.js";
import { findAppointment, findPatient } from "./usual-steps.js";
import { DATES, momentOf } from "./week.js";

const [ANGELA, SANTIAGO] = ["Ángela Yineth Cárdenas Díaz", "Santiago Londoño Úsuga"];
const VALENTINA = "Valentina Gómez Ibáñez";
const [MARIA, JUAN] = ["María Fernanda Quintero Rojas", "Juan Camilo Ospina Arango"];

/** Friday: an overbooking, occupancy, history, access records and an export. */
export function friday(task: WriteTask): void {
  task("Overbook a slot", async (week) => {
    week.itIs("Friday", "07:30");
    const { patientId } = await findPatient(week.supervisor, SANTIAGO);
    const { appointment } = await week.supervisor.booking.overbookAppointment({
      patientId,
      programId: week.id("program", "PRIMARIA"),
      practitionerId: week.id("practitioner", "P-03"),
      serviceId: week.id("service", "PEDIA"),
      requestSourceId: week.id("request source", "VENTANILLA"),
      appointmentTypeId: week.id("appointment type", "CONTROL"),
      startsAt: momentOf("Friday", "08:00"),
      reason: "Viene desde Sumapaz y solo puede hoy.",
    });
    expect(appointment).toMatchObject({ overbooked: true, startsAt: week.kept(ANGELA).startsAt });
  });

  task("Enter a visit of yesterday's outage", async (week) => {
    const { patientId } = await findPatient(week.supervisor, SANTIAGO);
    const { appointment } = await week.supervisor.booking.enterLateVisit({
      patientId,
      programId: week.id("program", "PRIMARIA"),
      practitionerId: week.id("practitioner", "P-03"),
      serviceId: week.id("service", "PEDIA"),
      requestSourceId: week.id("request source", "VENTANILLA"),
      appointmentTypeId: week.id("appointment type", "CONTROL"),
      startsAt: momentOf("Thursday", "16:00"),
      arrivedAt: momentOf("Thursday", "15:50"),
      attendedAt: momentOf("Thursday", "16:05"),
      reason: "Toda la tarde sin energía.",
    });
    expect(appointment).toMatchObject({ status: AppointmentDetails_Status.ATTENDED, lateEntry: true });
  });

  task("Correct the wait of an appointment", async (week) => {
    await findAppointment(week, week.supervisor, { whose: VALENTINA, day: "Friday" });
    const { appointment } = await week.supervisor.booking.correctAppointmentWait({
      ...week.latest(VALENTINA),
      requestedOn: DATES.Monday,
      reason: "Pidió la cita por teléfono el lunes.",
    });
    expect(appointment?.requestedOn).toBe(DATES.Monday);
  });

  task("Read the occupancy of a week", async (week) => {
    week.itIs("Friday", "14:00");
    const { programDays } = await week.reception.occupancy.getOccupancy({
      dateFrom: DATES.Monday,
      dateTo: DATES.Saturday,
    });
    const primary = programDays.filter(({ programId }) => programId === week.id("program", "PRIMARIA"));
    expect(primary.map(({ date }) => date)).toEqual([
      DATES.Monday,
      DATES.Tuesday,
      DATES.Wednesday,
      DATES.Thursday,
      DATES.Friday,
    ]);
    const booked = ({ practitioners }: (typeof primary)[number]) =>
      practitioners.reduce((sum, { bookedAppointmentCount }) => sum + bookedAppointmentCount, 0);
    expect(primary.map(booked)[1]).toBe(2);
  });

  task("Read the history of an appointment", async (week) => {
    const { appointmentId } = await findAppointment(week, week.supervisor, { whose: JUAN, day: "Tuesday" });
    const { changes } = await week.supervisor.booking.listAppointmentChanges({ appointmentId });
    expect(changes.map(({ actor }) => actor)).toEqual(["portal", "recepcion-07", "supervision-02"]);
    expect(changes[2]?.correctionReason).toBe("Esperaba en la otra sala.");
  });

  task("List who read a patient's record", async (week) => {
    const { patientId } = await findPatient(week.supervisor, MARIA);
    const { accessRecords } = await week.supervisor.directory.listAccessRecords({ patientId });
    const ofReception = accessRecords.filter(({ actor }) => actor === "recepcion-07");
    expect(ofReception.map(({ operation }) => operation.split("/").at(-1))).toContain("ListAppointments");
  });

  task("Export a patient's data", async (week) => {
    const { patientId } = await findPatient(week.supervisor, MARIA);
    const whole = await week.supervisor.directory.exportPatient({ patientId, pageSize: 200 });
    expect(whole.patients).toMatchObject([{ patientId, fullName: MARIA }]);
    expect(whole.appointments.length).toBeGreaterThan(0);
    expect(whole.nextPageToken).toBe("");
  });
}
