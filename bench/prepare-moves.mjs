import { dateIn } from "./open-slots.mjs";
import { newPatient } from "./registration.mjs";

/** The RPC that moves an appointment. */
export const RESCHEDULE = "cupo.access.v1.AppointmentService/RescheduleAppointment";

const DAYS = 80;
/** Slots that are booked come first on their day; those that are moved to are among so many behind them. */
const LATE = 50;
const REGISTER = "cupo.access.v1.PatientService/RegisterPatient";
const BOOKING = "cupo.clinic.v1.BookingService";

/**
 * Books so many appointments, each of a patient of its own, and gives a request for each that moves it from one day to the
 * next, to a slot of its own. A few are prepared at once at most, each on another day, so that no two want one slot.
 *
 * @param {(rpc: string, request: object) => Promise<any>} call
 * @param {{ serviceId: string, requestSourceId: string, appointmentTypeId: string }} clinic
 * @param {number} count
 * @param {number} atOnce far below 80
 * @returns {Promise<{ message: { appointmentId: string, optionToken: string, expectedVersion: number } }[]>}
 */
export async function prepareMoves(call, clinic, count, atOnce = 1) {
  const wanted = new Set();
  const all = Array.from({ length: count });
  let next = 0;
  const work = async () => {
    for (let i = next++; i < count; i = next++) all[i] = { message: await prepareMove(call, clinic, i, wanted) };
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return all;
}

async function prepareMove(call, clinic, i, wanted) {
  const { patient } = await call(REGISTER, newPatient());
  const subject = { patientId: patient.id, serviceId: clinic.serviceId, pageSize: 1 };
  const appointmentId = await book(call, clinic, subject, 1 + (i % DAYS));
  const wish = { ...subject, patientId: undefined, appointmentId, pageSize: LATE };
  const found = (await options(call, wish, 2 + (i % DAYS))).findLast((option) => !wanted.has(slotOf(option)));
  if (found === undefined) throw new Error("the days of the clinic have too few slots for so many moves");
  wanted.add(slotOf(found));
  return { appointmentId, optionToken: found.optionToken, expectedVersion: 1 };
}

function slotOf({ practitionerId, startsAt }) {
  return `${practitionerId} ${startsAt}`;
}

async function book(call, { requestSourceId, appointmentTypeId }, subject, day) {
  const [{ optionToken }] = await options(call, subject, day);
  const request = { patientId: subject.patientId, optionToken, requestSourceId, appointmentTypeId };
  return (await call(`${BOOKING}/BookAppointment`, request)).appointment.appointmentId;
}

async function options(call, wish, day) {
  return (await call(`${BOOKING}/SearchAppointmentOptions`, { ...wish, dateFrom: dateIn(day), dateTo: dateIn(day) }))
    .options;
}
