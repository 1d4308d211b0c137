import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { runStorm } from "./storm.js";
import { type Defect, seedDefect } from "./storm-defects.js";
import { createStormFixture } from "./storm-fixture.js";
import { recordStorm, type StormRecord } from "./storm-record.js";
import { startTwins, type Twins } from "./twins.js";

vi.mock("../../src/postgres/tables/schedule/slot-locks.js", async (original) =>
  (await import("./storm-defects.js")).withoutLocks(await original()),
);
vi.mock("../../src/postgres/tables/appointments/day-counters.js", async (original) =>
  (await import("./storm-defects.js")).withStrayCounter(await original()),
);

/** Duration of the storm without a defect, and the time limit for detecting a defect. In milliseconds. */
const CALM_MS = 1_000;
const CAUGHT_WITHIN_MS = 240_000;
const SLACK_MS = 60_000;
/** Few days and options, so that many calls conflict. */
const NARROW = { days: 1, choices: 2 };

/** Drops the exclusion constraints, which would otherwise hide missing locks. */
const DROP_BACKSTOPS = `ALTER TABLE appointments
  DROP CONSTRAINT appointments_practitioner_excl, DROP CONSTRAINT appointments_patient_excl`;

/** Proves that the storm detects defects in the locking of slots. */
describe("the storm", () => {
  let twins: Twins;

  beforeEach(async () => {
    twins = await startTwins();
    await twins.both[0].query(DROP_BACKSTOPS);
  }, SLACK_MS);

  afterEach(() => twins.close(), SLACK_MS);

  test(
    "reports nothing without a defect",
    async () => {
      const { broken, serverErrors } = await stormWith(undefined, CALM_MS);
      expect({ broken: [...broken], serverErrors }).toEqual({ broken: [], serverErrors: [] });
    },
    SLACK_MS,
  );

  test(
    "detects a check without a lock",
    async () => {
      const { broken } = await stormWith("CHECK_WITHOUT_LOCK", CAUGHT_WITHIN_MS);
      expect([...broken]).not.toEqual([]);
    },
    CAUGHT_WITHIN_MS + SLACK_MS,
  );

  test(
    "detects a counter outside the transaction",
    async () => {
      const wanted = ["a wrong counter", "DAY_COUNT_WRONG"];
      const { broken } = await stormWith("COUNTER_OUTSIDE_TRANSACTION", CAUGHT_WITHIN_MS, wanted);
      expect([...broken]).toEqual(expect.arrayContaining(wanted));
    },
    CAUGHT_WITHIN_MS + SLACK_MS,
  );

  /** Runs a storm until an invariant is broken and all of `wanted` are, or until the time is over. */
  async function stormWith(
    defect: Defect | undefined,
    maxMs: number,
    wanted: readonly string[] = [],
  ): Promise<StormRecord> {
    const [service] = twins.both;
    seedDefect(undefined, service.query);
    const fixture = await createStormFixture(service);
    seedDefect(defect, service.query);
    const record = recordStorm(twins);
    const end = performance.now() + maxMs;
    const isFound = () => record.broken.size > 0 && wanted.every((name) => record.broken.has(name));
    const isOver = () => isFound() || performance.now() > end;
    const watch = async () => {
      while (!isOver()) await record.look();
    };
    await Promise.all([runStorm({ ...record, fixture, service, ...NARROW, isOver }), watch()]);
    await record.look();
    return record;
  }
});
