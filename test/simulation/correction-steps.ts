import * as fc from "fast-check";
import { named } from "./booking-steps.js";
import { changeDuration, undo } from "./correction-model.js";
import { expectVerdict, nth, steps } from "./step.js";

const any = fc.nat({ max: 1_000 });
const seldom = fc.nat({ max: 7 }).map((number) => number === 0);

/** Takes back a cancellation, or tries it on an appointment in another status. */
export const undoings = steps(
  "undo",
  { appointment: any, isStale: seldom, isOther: seldom, isLive: seldom },
  {
    isPossible: ({ appointments }) => appointments.length > 0,
    async run(clinic, world, { appointment: which, isStale, isOther, isLive }) {
      const cancelled = clinic.appointments.filter(({ status }) => status === "CANCELLED");
      const appointment = nth(isLive || cancelled.length === 0 ? clinic.appointments : cancelled, which);
      const request = named(world, appointment, isStale);
      const isPending = (appointment.cancelledFrom === "PENDING") !== isOther;
      const status = isPending ? "PENDING" : "CONFIRMED";
      const answer = await world.call("CorrectAppointmentStatus", { ...request, status, reason: "Llamó de nuevo." });
      expectVerdict(clinic, world, answer, undo(clinic, appointment, request.expectedVersion, status));
    },
  },
);

/** Makes an appointment longer or shorter at its place. */
export const durations = steps(
  "change the duration",
  { appointment: any, isStale: seldom, minutes: fc.constantFrom(10, 20, 30, 40, 60, 90) },
  {
    isPossible: ({ appointments }) => appointments.length > 0,
    async run(clinic, world, { appointment: which, isStale, minutes: durationMinutes }) {
      const appointment = nth(clinic.appointments, which);
      const request = named(world, appointment, isStale);
      const answer = await world.call("ChangeAppointment", { ...request, durationMinutes });
      expectVerdict(
        clinic,
        world,
        answer,
        changeDuration(clinic, appointment, request.expectedVersion, durationMinutes),
      );
    },
  },
);
