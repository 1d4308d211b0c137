import { expect } from "vitest";
import { AppointmentDetails_Status as Status } from "../../../src/gen/cupo/clinic/v1/appointment_details_pb.js";
import { WaitlistEntryDetails_Period as Period } from "../../../src/gen/cupo/clinic/v1/waitlist_entry_details_pb.js";
import type { WriteTask } from "./tasks.js";
import { bookBySearch, findPatient } from "./usual-steps.js";
import { DATES, given, momentOf, timeOf } from "./week.js";

const ROSA = "Rosa Elvira Chaparro Niño";

/** Monday: telephone bookings, a patient without an appointment, and the list for Tuesday. */
export function monday(task: WriteTask): void {
  task("Find patients by name, telephone and document", async (week) => {
    week.itIs("Monday", "06:45");
    const { directory } = week.reception;
    const byName = await directory.searchPatients({ name: "cardenas yin" });
    expect(byName.patients.map(({ fullName }) => fullName)).toEqual(["Ángela Yineth Cárdenas Díaz"]);
    const byPhone = await directory.searchPatients({ phone: "300 555 1011" });
    expect(byPhone.patients.map(({ fullName }) => fullName)).toEqual(["Yurani Paola Mosquera Lozano"]);
    const byDocument = await directory.searchPatients({ documentNumberPrefix: "9000001" });
    expect(byDocument.patients).toHaveLength(10);
  });

  task("Register a patient", async (week) => {
    const { patient } = await week.reception.registration.registerPatient({
      documentType: "CC",
      documentNumber: "90000101",
      fullName: "Adriana Milena Cifuentes Rozo",
      phone: "+57 300 555 2001",
      consentGrantedAt: momentOf("Monday", "06:50"),
    });
    expect(given(patient)).toMatchObject({ fullName: "Adriana Milena Cifuentes Rozo", version: 1 });
  });

  task("Find free slots for an unknown caller", async (week) => {
    const { slots } = await week.reception.occupancy.searchFreeSlots({
      serviceId: week.id("service", "PEDIA"),
      dateFrom: DATES.Monday,
      dateTo: DATES.Friday,
      periods: [Period.AFTERNOON],
    });
    expect(timeOf(slots[0]?.startsAt)).toBe("13:00");
  });

  task("Book an appointment", async (week) => {
    const booking = { whose: "María Fernanda Quintero Rojas", day: "Tuesday", time: "07:00", with: "P-01" } as const;
    const appointment = await bookBySearch(week, week.reception, booking);
    expect(appointment).toMatchObject({ status: Status.PENDING, version: 1 });
    expect(timeOf(appointment.startsAt)).toBe("07:00");
  });

  task("Book a walk-in patient", async (week) => {
    week.itIs("Monday", "08:05");
    const { patientId } = await findPatient(week.reception, ROSA);
    const { appointment } = await week.reception.booking.bookAppointmentAt({
      patientId,
      programId: week.id("program", "PRIMARIA"),
      practitionerId: week.id("practitioner", "P-01"),
      serviceId: week.id("service", "MEDGEN"),
      requestSourceId: week.id("request source", "VENTANILLA"),
      appointmentTypeId: week.id("appointment type", "CONTROL"),
    });
    expect(given(appointment).status).toBe(Status.CONFIRMED);
    expect(timeOf(appointment?.startsAt)).toBe("08:00");
  });

  task("Print tomorrow's appointments", async (week) => {
    await bookBySearch(week, week.others, {
      whose: "Juan Camilo Ospina Arango",
      day: "Tuesday",
      time: "07:20",
      with: "P-01",
    });
    const { appointments } = await week.reception.booking.listAppointments({
      dateFrom: DATES.Tuesday,
      dateTo: DATES.Tuesday,
      locationId: week.id("location", "CHAPINERO"),
      includePatientNames: true,
    });
    for (const appointment of appointments) week.keep(given(appointment.patientName), appointment);
    expect(appointments.map(({ startsAt, patientName }) => `${timeOf(startsAt)} ${patientName}`)).toEqual([
      "07:00 María Fernanda Quintero Rojas",
      "07:20 Juan Camilo Ospina Arango",
    ]);
  });
}
