import * as fc from "fast-check";
import { named, namesOf, time } from "./booking-steps.js";
import { type AppointmentModel, type ClinicModel, DAY, dayOf } from "./clinic-model.js";
import { backToBack, bookAll, cancelSeries, moveSeries, swap } from "./series-model.js";
import { expectVerdicts, nth, steps } from "./step.js";
import type { World } from "./world.js";

const any = fc.nat({ max: 1_000 });
const seldom = fc.nat({ max: 7 }).map((number) => number === 0);
const { patient, minutes } = time;
const visit = fc.record({ patient, minutes: fc.constantFrom(20, 30, 40) });
const hasSlots = ({ slots }: ClinicModel) => slots.length > 0;

/** Books a series of two days. From the second day on, the schedule has no slots for it. */
export const seriesBookings = steps(
  "book series",
  { slot: any, isOff: seldom, isLate: seldom, patient, minutes },
  {
    isPossible: hasSlots,
    async run(clinic, world, { patient: who, minutes: length, isLate, ...chosen }) {
      const first = startNear(clinic, chosen, isLate ? 1 : 0);
      const answer = await world.call("BookSeries", {
        ...targetOf(world, first),
        ...namesOf(world),
        patientId: `${world.patientIds[who]}`,
        durationMinutes: length,
        intervalDays: 1,
        count: 2,
      });
      const { program, practitioner } = first;
      const times = [first.start, first.start + DAY].map((start) => {
        return { program, practitioner, patient: who, start, end: start + length };
      });
      const verdicts = bookAll(clinic, "occurrences", times, world.seriesIds.length);
      if (!("refused" in verdicts)) world.seriesIds.push(String(answer.body["seriesId"]));
      expectVerdicts(clinic, world, answer, verdicts);
    },
  },
);

/** Books patients one after the other. */
export const groupBookings = steps(
  "book together",
  {
    slot: any,
    isOff: seldom,
    visits: fc.uniqueArray(visit, { minLength: 2, maxLength: 3, selector: ({ patient: who }) => who }),
  },
  {
    isPossible: hasSlots,
    async run(clinic, world, { visits, ...chosen }) {
      const first = startNear(clinic, chosen);
      const { requestSourceId, appointmentTypeId } = namesOf(world);
      const answer = await world.call("BookTogether", {
        ...targetOf(world, first),
        requestSourceId,
        visits: visits.map((each) => ({
          patientId: `${world.patientIds[each.patient]}`,
          appointmentTypeId,
          durationMinutes: each.minutes,
        })),
      });
      const times = backToBack(clinic, { ...first, end: first.start }, visits);
      expectVerdicts(clinic, world, answer, bookAll(clinic, "visits", times));
    },
  },
);

export const seriesCancellations = steps(
  "cancel series",
  { appointment: any, isWhole: fc.boolean() },
  {
    isPossible: ({ appointments }) => appointments.some(({ series }) => series !== undefined),
    async run(clinic, world, { appointment: which, isWhole }) {
      const { from, series } = chosenFrom(clinic.appointments, which);
      const { cancellationReasonId, seriesIds } = world;
      const answer = await world.call("CancelSeries", {
        seriesId: `${seriesIds[series]}`,
        cancellationReasonId,
        ...(!isWhole && { fromAppointmentId: `${world.appointmentIds[from.id]}` }),
      });
      expectVerdicts(clinic, world, answer, cancelSeries(clinic, series, isWhole ? undefined : from));
    },
  },
);

/** Moves a series to another time of its day, seldom to another day. */
export const seriesMoves = steps(
  "move series",
  { appointment: any, slot: any, isOff: seldom, isStale: seldom, isOtherDay: seldom, isKept: fc.boolean() },
  {
    isPossible: (clinic) => hasSlots(clinic) && clinic.appointments.some(({ series }) => series !== undefined),
    async run(clinic, world, { appointment: which, isStale, isOtherDay, isKept, ...chosen }) {
      const { from, series } = chosenFrom(clinic.appointments, which);
      const { start, practitioner: taker } = startNear(
        clinic,
        chosen,
        isOtherDay ? 1 - dayOf(from.start) : dayOf(from.start),
      );
      const { appointmentId: fromAppointmentId, expectedVersion } = named(world, from, isStale);
      const answer = await world.call("MoveSeries", {
        seriesId: `${world.seriesIds[series]}`,
        fromAppointmentId,
        expectedVersion,
        startsAt: new Date(world.msOf(start)).toISOString(),
        ...(!isKept && { practitionerId: `${world.practitionerIds[taker]}` }),
      });
      const to = { start, practitioner: isKept ? undefined : taker };
      expectVerdicts(clinic, world, answer, moveSeries(clinic, from, expectedVersion, to));
    },
  },
);

/** Exchanges the appointments of both practitioners in a span that begins near an appointment. */
export const swaps = steps(
  "swap",
  { appointment: any, earlier: fc.constantFrom(0, 0, 10, 30), minutes: fc.constantFrom(30, 60, 90, 240) },
  {
    isPossible: ({ appointments }) => appointments.length > 0,
    async run(clinic, world, { appointment: which, earlier, minutes: length }) {
      const ahead = clinic.appointments.filter(({ start, status }) => start > clinic.now && status !== "CANCELLED");
      const near = nth(ahead.length > 0 ? ahead : clinic.appointments, which);
      const span = { start: near.start - earlier, end: near.start - earlier + length };
      const [practitionerId, otherPractitionerId] = world.practitionerIds;
      const answer = await world.call("SwapPractitioners", {
        programId: `${world.clinics[near.program]?.programId}`,
        practitionerId: `${practitionerId}`,
        otherPractitionerId: `${otherPractitionerId}`,
        startsAt: new Date(world.msOf(span.start)).toISOString(),
        endsAt: new Date(world.msOf(span.end)).toISOString(),
      });
      expectVerdicts(clinic, world, answer, swap(clinic, near.program, span, world.appointmentIds));
    },
  },
);

/** Returns the start of a slot, free and ahead if there is one, on a day if given. An `isOff` start is a little later. */
function startNear(
  { slots, now }: ClinicModel,
  { slot: which, isOff }: { readonly slot: number; readonly isOff: boolean },
  day?: number,
) {
  const onDay = slots.filter(({ start }) => day === undefined || dayOf(start) === day);
  const ahead = onDay.filter(({ start, appointment }) => start > now && appointment === undefined);
  const { program, practitioner: who, start } = nth(ahead.length > 0 ? ahead : slots, which);
  return { program, practitioner: who, start: isOff ? start + 10 : start };
}

function chosenFrom(appointments: readonly AppointmentModel[], which: number) {
  const from = nth(
    appointments.filter(({ series }) => series !== undefined),
    which,
  );
  return { from, series: from.series ?? 0 };
}

function targetOf(
  world: World,
  target: { readonly program: number; readonly practitioner: number; readonly start: number },
) {
  return {
    programId: `${world.clinics[target.program]?.programId}`,
    practitionerId: `${world.practitionerIds[target.practitioner]}`,
    serviceId: `${world.clinics[0]?.serviceId}`,
    startsAt: new Date(world.msOf(target.start)).toISOString(),
  };
}
