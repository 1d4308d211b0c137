import type { AppointmentDetails } from "../../../src/gen/cupo/clinic/v1/appointment_details_pb.js";
import type { PatientDetails } from "../../../src/gen/cupo/clinic/v1/patient_details_pb.js";
import type { Staff } from "./staff.js";
import { DATES, given, timeOf, type Week } from "./week.js";

/** Finds a patient by the full name, with one call. */
export async function findPatient(by: Staff, fullName: string): Promise<PatientDetails> {
  const { patients } = await by.directory.searchPatients({ name: fullName });
  return given(patients.find((patient) => patient.fullName === fullName));
}

/** Finds the current appointment of a patient on a day, with one call. Stores it under the patient's name. */
export async function findAppointment(
  week: Week,
  by: Staff,
  { whose, day }: Pick<BookingRequest, "whose" | "day">,
): Promise<AppointmentDetails> {
  const dates = { dateFrom: DATES[day], dateTo: DATES[day] };
  const { appointments } = await by.booking.listAppointments({ ...dates, includePatientNames: true });
  return week.keep(
    whose,
    appointments.find(({ patientName }) => patientName === whose),
  );
}

/** A booking request. The defaults are general medicine in primary care. */
export interface BookingRequest {
  readonly whose: string;
  readonly day: keyof typeof DATES;
  readonly time: string;
  /** Code of the practitioner. */
  readonly with: string;
  /** Code of the appointment type. Defaults to a control visit. */
  readonly type?: string;
}

/**
 * Finds a patient, searches a time and books it, with three calls. Stores the PENDING appointment under the patient's
 * name.
 */
export async function bookBySearch(week: Week, by: Staff, booking: BookingRequest): Promise<AppointmentDetails> {
  const { patientId } = await findPatient(by, booking.whose);
  const appointmentTypeId = week.id("appointment type", booking.type ?? "CONTROL");
  const { options } = await by.booking.searchAppointmentOptions({
    patientId,
    appointmentTypeId,
    serviceId: week.id("service", "MEDGEN"),
    dateFrom: DATES[booking.day],
    dateTo: DATES[booking.day],
    practitionerId: week.id("practitioner", booking.with),
  });
  const { optionToken } = given(options.find(({ startsAt }) => timeOf(startsAt) === booking.time));
  const { appointment } = await by.booking.bookAppointment({
    patientId,
    optionToken,
    requestSourceId: week.id("request source", "CALLCENTER"),
    appointmentTypeId,
  });
  return week.keep(booking.whose, appointment);
}
