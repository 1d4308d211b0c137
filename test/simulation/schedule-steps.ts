import * as fc from "fast-check";
import { expect } from "vitest";
import { itemsOf } from "../support/problem.js";
import type { RestAnswer } from "../support/rest-request.js";
import {
  type BlockModel,
  type ClinicModel,
  DAY,
  dayOf,
  type RuleAttributes,
  type RuleModel,
  remake,
} from "./clinic-model.js";
import { nth, steps } from "./step.js";
import { attributesOf, PRACTITIONERS, PROGRAMS } from "./world.js";

const seldom = fc.nat({ max: 7 }).map((number) => number === 0);
const program = fc.nat({ max: PROGRAMS - 1 });
/** Upper bound of the model's clock in a run, in minutes. */
const LATEST = 12 * 60;

export const materializations = steps(
  "materialize",
  { program },
  {
    async run(clinic, world, { program: which }) {
      const made = nth(clinic.programs, which);
      made.made = true;
      remake(clinic, PRACTITIONERS, { programs: [which] });
      const programId = `${world.clinics[which]?.programId}`;
      const { status, body } = await world.call("MaterializeSchedule", { programId });
      const ahead = clinic.slots.filter((slot) => slot.program === which && slot.start > clinic.now);
      expect({ status, ...(body["materialization"] as object) }).toMatchObject({
        status: 200,
        openSlotCount: ahead.filter((slot) => slot.appointment === undefined).length,
        bookedSlotCount: ahead.filter((slot) => slot.appointment !== undefined && !slot.retained).length,
        displacedSlotCount: ahead.filter((slot) => slot.retained).length,
      });
    },
  },
);

export const ruleChanges = steps(
  "change rule",
  {
    program,
    isStale: seldom,
    active: seldom.map((isOff) => !isOff),
    capacity: fc.integer({ min: 1, max: 4 }),
    minutes: fc.constantFrom(20, 30, 40),
    from: fc.constantFrom(480, 540),
    to: fc.constantFrom(540, 600, 660),
  },
  {
    async run(clinic, world, { program: which, isStale, ...attributes }) {
      const { rule } = nth(clinic.programs, which);
      const expectedVersion = isStale ? rule.version - 1 : rule.version;
      const { programId = "", ruleId = "" } = world.clinics[which] ?? {};
      const request = { programId, ruleId, expectedVersion, ...attributesOf(attributes) };
      const answer = await world.call("UpdateProgramRule", request);
      const refusal = refuseRule(rule, attributes, expectedVersion);
      expectChange(answer, refusal);
      if (refusal !== undefined) return;
      Object.assign(rule, attributes, { version: expectedVersion + 1 });
      remake(clinic, PRACTITIONERS, { programs: [which] });
      expect(answer.body["programRule"]).toMatchObject({ version: rule.version, ...attributesOf(rule) });
    },
  },
);

export const blocks = steps(
  "block",
  {
    target: fc.nat({ max: PRACTITIONERS + PROGRAMS - 1 }),
    day: fc.nat({ max: 1 }),
    from: fc.nat({ max: 8 }).map((some) => 450 + 20 * some),
    minutes: fc.constantFrom(30, 60, 120),
  },
  {
    async run(clinic, world, { target, day, from, minutes }) {
      const isPersonal = target < PRACTITIONERS;
      const of = isPersonal
        ? { practitioner: target, program: undefined }
        : { practitioner: undefined, program: target - PRACTITIONERS };
      const start = day * DAY + from;
      const block: BlockModel = { ...of, start, end: start + minutes, cancelled: false, version: 1 };
      const answer = await world.call("CreateScheduleBlock", {
        kind: "ILLNESS",
        startsAt: new Date(world.msOf(block.start)).toISOString(),
        endsAt: new Date(world.msOf(block.end)).toISOString(),
        ...(isPersonal
          ? { practitionerId: `${world.practitionerIds[target]}` }
          : { programId: `${world.clinics[target - PRACTITIONERS]?.programId}` }),
      });
      const isOver = block.end <= clinic.now;
      expectChange(answer, isOver ? [422, "endsAt OUT_OF_RANGE"] : undefined);
      if (isOver) return;
      world.blockIds.push(`${(answer.body["scheduleBlock"] as { scheduleBlockId?: string }).scheduleBlockId}`);
      clinic.blocks.push(block);
      expectEffect(clinic, block, answer);
    },
  },
);

export const blockCancellations = steps(
  "cancel block",
  { block: fc.nat({ max: 1_000 }), isStale: seldom },
  {
    isPossible: (clinic) => clinic.blocks.length > 0,
    async run(clinic, world, { block: which, isStale }) {
      const block = nth(clinic.blocks, which);
      const expectedVersion = isStale ? block.version - 1 : block.version;
      const scheduleBlockId = nth(world.blockIds, which);
      const answer = await world.call("CancelScheduleBlock", { scheduleBlockId, expectedVersion });
      const refusal = refuseBlockChange(block, isStale);
      expectChange(answer, refusal);
      if (refusal !== undefined) return;
      Object.assign(block, { cancelled: true, version: expectedVersion + 1 });
      expectEffect(clinic, block, answer);
    },
  },
);

/** Advances the clock by an hour. Earlier options expire, and some appointments and slots may begin. */
export const hours = steps(
  "an hour later",
  {},
  {
    isPossible: ({ now }) => now + 60 < LATEST,
    async run(clinic, world) {
      clinic.now += 60;
      world.goTo(clinic.now);
    },
  },
);

type Refused = readonly [status: number, error: string];

function refuseRule(
  { version }: RuleModel,
  { from, to, minutes }: RuleAttributes,
  expected: number,
): Refused | undefined {
  if (expected !== version) return [409, "expectedVersion STALE_VERSION"];
  if (from >= to) return [422, "endsAtLocal INVALID_RANGE"];
  return to - from < minutes ? [422, "slotDurationMinutes INVALID_CAPACITY"] : undefined;
}

function refuseBlockChange({ cancelled }: BlockModel, isStale: boolean): Refused | undefined {
  if (isStale) return [409, "expectedVersion STALE_VERSION"];
  return cancelled ? [409, "scheduleBlockId STATE_NOT_ALLOWED"] : undefined;
}

function expectChange(answer: RestAnswer, refusal: Refused | undefined): void {
  const [status, ...errors] = refusal ?? [200];
  expect({ status: answer.status, errors: itemsOf(answer) }).toEqual({ status, errors });
}

/**
 * Updates the slots of a block's scope in the model. Requires the answer to have the number of slots that were removed
 * and restored.
 */
function expectEffect(
  clinic: ClinicModel,
  { practitioner, program: only, start, end }: BlockModel,
  answer: RestAnswer,
): void {
  const before = new Set(clinic.slots);
  const programs = only === undefined ? clinic.programs.map((_, i) => i) : [only];
  remake(clinic, PRACTITIONERS, { programs, practitioner, days: [dayOf(start), dayOf(end)] });
  const after = new Set(clinic.slots);
  expect(answer.body["effect"]).toMatchObject({
    withdrawnSlotCount: [...before].filter((slot) => !after.has(slot)).length,
    restoredSlotCount: [...after].filter((slot) => !before.has(slot)).length,
  });
}
