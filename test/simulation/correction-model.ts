import { noteFreed, type Refusal, refuse, refuseAll, refuseStep, type Verdict } from "./booking-model.js";
import {
  type AppointmentModel,
  type ClinicModel,
  DAY,
  dayOf,
  isBlocked,
  remake,
  runFrom,
  type SlotModel,
} from "./clinic-model.js";
import { isBusy, obstacles, timeOf } from "./option-model.js";
import { PRACTITIONERS } from "./world.js";

/** Takes back a cancellation: the appointment takes its time again, in its former slots or in one of its own. */
export function undo(
  clinic: ClinicModel,
  appointment: AppointmentModel,
  version: number,
  to: AppointmentModel["status"],
): Verdict {
  const refusal = refuseStep(clinic, appointment, version, ["CANCELLED"], false) ?? refuseUndo(clinic, appointment, to);
  if (refusal !== undefined) return refusal;
  const former = formerSlots(clinic, appointment);
  const slots = former.length > 0 ? former : [addOwnSlot(clinic, appointment)];
  for (const slot of slots) slot.appointment = appointment;
  const { program, practitioner, start } = appointment;
  if (start > clinic.now) remake(clinic, PRACTITIONERS, { programs: [program], practitioner, days: [dayOf(start)] });
  return Object.assign(appointment, { status: to, version: version + 1 });
}

/** Changes how long an appointment lasts: it takes the slots that follow, or frees its last ones. */
export function changeDuration(
  clinic: ClinicModel,
  appointment: AppointmentModel,
  version: number,
  minutes: number,
): Verdict {
  const refusal = refuseStep(clinic, appointment, version, ["PENDING", "CONFIRMED"], false);
  if (refusal !== undefined) return refusal;
  const held = clinic.slots.filter((slot) => slot.appointment === appointment).toSorted((a, b) => a.start - b.start);
  if (held.some(({ retained }) => retained)) return refuse(409, "appointmentId STATE_NOT_ALLOWED");
  if (appointment.overbooked) return changeOwnSlot(clinic, appointment, minutes);
  const run = runFrom(clinic, held[0], minutes);
  if (run.length === 0) return refuse(422, "durationMinutes INVALID_VALUE");
  const found = obstacles(clinic, timeOf(run), appointment.patient, appointment);
  if (found.length > 0) return refuse(409, ...found.map((code) => `durationMinutes ${code}`));
  for (const slot of held) slot.appointment = undefined;
  for (const slot of run) slot.appointment = appointment;
  noteFreed(
    clinic,
    held.filter((slot) => !run.includes(slot)),
  );
  return Object.assign(appointment, { end: timeOf(run).end, version: version + 1 });
}

function changeOwnSlot(clinic: ClinicModel, appointment: AppointmentModel, minutes: number): Verdict {
  const { start, patient, version } = appointment;
  const end = start + minutes;
  if (end > (dayOf(start) + 1) * DAY) return refuse(422, "durationMinutes INVALID_RANGE");
  if (isBusy(clinic, { ...appointment, end }, { patient }, appointment))
    return refuse(409, "durationMinutes PATIENT_OVERLAP");
  const held = clinic.slots.filter((slot) => slot.appointment === appointment);
  clinic.slots = clinic.slots.filter((slot) => slot.appointment !== appointment);
  noteFreed(clinic, held);
  Object.assign(appointment, { end, version: version + 1 });
  addOwnSlot(clinic, appointment).appointment = appointment;
  return appointment;
}

function refuseUndo(
  clinic: ClinicModel,
  appointment: AppointmentModel,
  to: AppointmentModel["status"],
): Refusal | undefined {
  if (to !== appointment.cancelledFrom) return refuse(409, "appointmentId STATE_NOT_ALLOWED");
  const { overbooked, patient } = appointment;
  if (overbooked)
    return isBusy(clinic, appointment, { patient }) ? refuse(409, "appointmentId PATIENT_OVERLAP") : undefined;
  const conflicts = obstacles(clinic, appointment, patient, undefined);
  return conflicts.length === 0 ? undefined : refuseAll("appointmentId", conflicts);
}

/** Returns the slots of the rules that fill the time of an appointment; empty if they no longer do. */
function formerSlots({ slots }: ClinicModel, { overbooked, ...appointment }: AppointmentModel): SlotModel[] {
  const { program, practitioner, start, end } = appointment;
  const there = slots
    .filter((slot) => slot.ofRule && slot.program === program && slot.practitioner === practitioner)
    .filter((slot) => slot.start >= start && slot.end <= end)
    .toSorted((a, b) => a.start - b.start);
  const isWhole = there.every((slot, i) => slot.start === (there[i - 1]?.end ?? there[0]?.start));
  const minutes = (there.at(-1)?.end ?? 0) - (there[0]?.start ?? 0);
  return !overbooked && isWhole && minutes >= end - start ? there : [];
}

function addOwnSlot(clinic: ClinicModel, { overbooked, ...appointment }: AppointmentModel): SlotModel {
  const { program, practitioner, start, end } = appointment;
  const isTwin = (slot: SlotModel) =>
    slot.ofRule &&
    !slot.retained &&
    slot.program === program &&
    slot.practitioner === practitioner &&
    slot.start === start;
  const retained = isBlocked(clinic.blocks, appointment) || (!overbooked && clinic.slots.some(isTwin));
  const own = { program, practitioner, start, end, ofRule: !overbooked, retained, appointment: undefined };
  clinic.slots.push(own);
  return own;
}
