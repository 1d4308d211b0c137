import * as fc from "fast-check";
import { expect } from "vitest";
import type { HoldBody } from "../operations-clinic/hold-requests.js";
import { itemsOf } from "../support/problem.js";
import type { RestAnswer } from "../support/rest-request.js";
import type { Refusal } from "./booking-model.js";
import type { ClinicModel, HoldModel, OptionModel } from "./clinic-model.js";
import { hold, release } from "./hold-model.js";
import { nth, readTimes, steps, timeShown } from "./step.js";
import type { World } from "./world.js";

const any = fc.nat({ max: 1_000 });
const seldom = fc.nat({ max: 7 }).map((number) => number === 0);

/** Holds an option, or one of several with the same subject. */
export const holdings = steps(
  "hold",
  { option: any, others: fc.array(any, { maxLength: 3 }), minutes: fc.constantFrom(1, 5, 10), isUsed: seldom },
  {
    isPossible: ({ options }) => options.length > 0,
    async run(clinic, world, { option: which, others, minutes, isUsed }) {
      const options = optionsFrom(clinic, [which, ...others], isUsed);
      const [optionToken = "", ...alternatives] = options.map(({ token }) => token);
      const more = alternatives.length === 0 ? {} : { alternativeOptionTokens: alternatives };
      const answer = await world.call("HoldAppointmentOption", { optionToken, minutes, ...more });
      const verdict = hold(clinic, options, minutes);
      expectHold(world, answer, verdict);
      if ("refused" in verdict) return;
      const { optionToken: token, holdId } = answer.body["hold"] as HoldBody;
      world.holdIds.push(holdId);
      const held = options.find((option) => option.slots[0]?.start === verdict.start && option.used);
      const { subject, slots, minutes: length } = held ?? nth(options, 0);
      clinic.options.push({ token, subject, slots, minutes: length, at: clinic.now, used: false, hold: verdict });
    },
  },
);

export const releases = steps(
  "release",
  { hold: any },
  {
    isPossible: ({ holds }) => holds.length > 0,
    async run(clinic, world, { hold: which }) {
      const held = nth(clinic.holds, which);
      const answer = await world.call("ReleaseHold", { holdId: `${world.holdIds[held.id]}` });
      expectHold(world, answer, release(clinic, held));
    },
  },
);

/** Chooses an option, and others with its subject. All are from the latest searches, so that most are usable. */
function optionsFrom({ options }: ClinicModel, which: readonly number[], isUsed: boolean): readonly OptionModel[] {
  const some = options.filter(({ used }) => used === isUsed);
  const recent = (some.length > 0 ? some : options).slice(-60);
  const first = nth(recent, which[0] ?? 0);
  const alike = recent.filter(({ subject }) => isSame(subject, first.subject));
  const chosen = which.slice(1).map((each) => nth(alike, each));
  const bySlot = new Map([first, ...chosen].map((option) => [option.slots[0], option]));
  return [first, ...[...bySlot.values()].filter((option) => option.slots[0] !== first.slots[0])];
}

function isSame(one: OptionModel["subject"], other: OptionModel["subject"]): boolean {
  if ("patient" in one) return "patient" in other && one.patient === other.patient;
  return "appointment" in other && one.appointment === other.appointment;
}

function expectHold(world: World, answer: RestAnswer, verdict: HoldModel | Refusal): void {
  const [status, errors] = "refused" in verdict ? [verdict.refused, verdict.errors] : [200, []];
  expect({ status: answer.status, errors: itemsOf(answer) }).toEqual({ status, errors });
  if ("refused" in verdict) return;
  const shown = readTimes(answer.body["hold"] as HoldBody & { readonly endsAt: string });
  expect(shown).toMatchObject({ patientId: world.patientIds[verdict.patient], ...timeShown(world, verdict) });
}
