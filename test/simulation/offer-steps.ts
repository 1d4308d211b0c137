import * as fc from "fast-check";
import { expect } from "vitest";
import type { OfferBody } from "../jobs/offers-under-test.js";
import { type ClinicModel, dayOf, type FreedModel, type HoldModel, overlap } from "./clinic-model.js";
import { decide, dueSlots, OFFER_MINUTES } from "./offer-model.js";
import { steps } from "./step.js";
import { PATIENTS, PRACTITIONERS, type World } from "./world.js";

/** Puts a patient on the waitlist for one of the two days or both. */
export const waits = steps(
  "wait",
  {
    patient: fc.nat({ max: PATIENTS - 1 }),
    practitioner: fc.option(fc.nat({ max: PRACTITIONERS - 1 }), { nil: undefined }),
    days: fc.constantFrom([0, 0] as const, [0, 1] as const, [1, 1] as const),
  },
  {
    async run(clinic, world, { patient, practitioner, days: [from, to] }) {
      const answer = await world.call("CreateWaitlistEntry", {
        patientId: `${world.patientIds[patient]}`,
        serviceId: `${world.clinics[0]?.serviceId}`,
        dateFrom: world.dates[from],
        dateTo: world.dates[to],
        preferredPeriods: ["MORNING"],
        ...(practitioner === undefined ? {} : { practitionerId: `${world.practitionerIds[practitioner]}` }),
      });
      expect(answer.status).toBe(200);
      world.entryIds.push((answer.body["waitlistEntry"] as { readonly id: string }).id);
      clinic.waits.push({ id: clinic.waits.length, patient, practitioner, from, to });
    },
  },
);

/** Runs the job that offers freed slots. Requires each offer to be that of the model, in the order of the holds. */
export const offers = steps(
  "offer",
  {},
  { isPossible: ({ freed }) => freed.length > 0, run: (clinic, world) => offer(clinic, world) },
);

async function offer(clinic: ClinicModel, world: World): Promise<void> {
  const due = new Set(dueSlots(clinic));
  const before = clinic.holds.length;
  await world.offerFreedSlots();
  const { body } = await world.call("ListHolds", { pageSize: 200 });
  const live = (body["holds"] ?? []) as unknown as readonly OfferBody[];
  const made = live.filter(
    ({ holdId, waitlistEntryId }) => waitlistEntryId !== undefined && !world.holdIds.includes(holdId),
  );
  for (const offered of made) due.delete(await takeOffer(clinic, world, offered, [...due]));
  for (const freed of due) defer(clinic, freed, clinic.holds.slice(before));
}

/** Checks an offer and adds it to the model. Returns its slot. */
async function takeOffer(
  clinic: ClinicModel,
  world: World,
  { holdId, waitlistEntryId, startsAt }: OfferBody,
  due: readonly FreedModel[],
): Promise<FreedModel> {
  const { body } = await world.call("GetHold", { holdId });
  const shown = body["hold"] as Required<OfferBody> & {
    readonly programId: string;
    readonly practitionerId: string;
  };
  const freed = due.find(
    ({ slot }) =>
      world.clinics[slot.program]?.programId === shown.programId &&
      world.practitionerIds[slot.practitioner] === shown.practitionerId &&
      world.msOf(slot.start) === Date.parse(startsAt),
  );
  if (freed === undefined) throw new Error("a slot was offered that is not due");
  const decision = decide(clinic, freed);
  const to = decision.kind === "OFFER" ? decision.to : undefined;
  expect(waitlistEntryId).toBe(to && world.entryIds[to.id]);
  if (to === undefined) throw new Error("a slot was offered that no entry wants");
  const { program, practitioner, start, end } = freed.slot;
  const until = clinic.now + OFFER_MINUTES;
  const id = clinic.holds.length;
  const hold = {
    id,
    program,
    practitioner,
    start,
    end,
    patient: to.patient,
    moving: undefined,
    usesUnit: true,
    until,
    ended: false,
  };
  clinic.holds.push(hold);
  world.holdIds.push(holdId);
  freed.offered.push(to);
  freed.due = until;
  const option = {
    token: shown.optionToken,
    subject: { patient: to.patient },
    slots: [freed.slot],
    minutes: end - start,
  };
  clinic.options.push({ ...option, at: clinic.now, used: false, hold });
  return freed;
}

/**
 * A due slot that was not offered has no entry now, because offers only make entries busier. If an offer of this run
 * holds its practitioner or a unit of its day, the slot was read before or after it.
 */
function defer(clinic: ClinicModel, freed: FreedModel, offered: readonly HoldModel[]): void {
  const decision = decide(clinic, freed);
  if (decision.kind === "OFFER") expect(freed.isUncertain).toBe(true);
  else if (decision.kind === "FORGET") clinic.freed.splice(clinic.freed.indexOf(freed), 1);
  else {
    freed.due = decision.due;
    freed.isUncertain = offered.some((hold) => touches(hold, freed.slot));
  }
}

function touches(hold: HoldModel, slot: FreedModel["slot"]): boolean {
  const isThen = hold.practitioner === slot.practitioner && overlap(hold, slot);
  return isThen || (hold.program === slot.program && dayOf(hold.start) === dayOf(slot.start));
}
