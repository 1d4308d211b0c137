import type { AppointmentDetails } from "../../../src/gen/cupo/clinic/v1/appointment_details_pb.js";
import type { PatientDetails } from "../../../src/gen/cupo/clinic/v1/patient_details_pb.js";
import type { Staff } from "./staff.js";
import { DATES, given, timeOf, type Week } from "./week.js";

/** Finds a patient by the whole name: one call. */
export async function findPatient(by: Staff, fullName: string): Promise<PatientDetails> {
  const { patients } = await by.directory.searchPatients({ name: fullName });
  return given(patients.find((patient) => patient.fullName === fullName));
}

/** Finds the appointment of a patient on a day, as it is now: one call. It is kept by the patient's name. */
export async function findAppointment(
  week: Week,
  by: Staff,
  { whose, day }: Pick<Wish, "whose" | "day">,
): Promise<AppointmentDetails> {
  const dates = { dateFrom: DATES[day], dateTo: DATES[day] };
  const { appointments } = await by.booking.listAppointments({ ...dates, includePatientNames: true });
  return week.keep(
    whose,
    appointments.find(({ patientName }) => patientName === whose),
  );
}

/** What somebody asks for: general medicine in primary care unless it says otherwise. */
export interface Wish {
  readonly whose: string;
  readonly day: keyof typeof DATES;
  readonly time: string;
  /** The code of the practitioner. */
  readonly with: string;
  /** The code of the appointment type; a control visit unless it says otherwise. */
  readonly type?: string;
}

/** Finds a patient, searches for a time and books it: three calls. The appointment is PENDING, and kept by the patient's name. */
export async function bookBySearch(week: Week, by: Staff, wish: Wish): Promise<AppointmentDetails> {
  const { patientId } = await findPatient(by, wish.whose);
  const appointmentTypeId = week.id("appointment type", wish.type ?? "CONTROL");
  const { options } = await by.booking.searchAppointmentOptions({
    patientId,
    appointmentTypeId,
    serviceId: week.id("service", "MEDGEN"),
    dateFrom: DATES[wish.day],
    dateTo: DATES[wish.day],
    practitionerId: week.id("practitioner", wish.with),
  });
  const { optionToken } = given(options.find(({ startsAt }) => timeOf(startsAt) === wish.time));
  const { appointment } = await by.booking.bookAppointment({
    patientId,
    optionToken,
    requestSourceId: week.id("request source", "CALLCENTER"),
    appointmentTypeId,
  });
  return week.keep(wish.whose, appointment);
}
