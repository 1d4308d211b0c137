import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { countDeadlocks, detectDeadlocksEarly } from "./deadlocks.js";
import { everythingBroken, foundByTheService } from "./invariants.js";
import { contend, openContest } from "./last-unit.js";
import { startTwinProcesses, type TwinProcesses } from "./twin-processes.js";

/** The number of trials. LAST_UNIT_TRIALS changes it. */
const TRIALS = Number(process.env["LAST_UNIT_TRIALS"] || 4);
const CONTENDERS = 16;
const SLACK_MS = 120_000;
const TRIAL_MS = 3_000;

let database: TestDatabase;
let twins: TwinProcesses;

beforeAll(async () => {
  database = await createTestDatabase();
  await detectDeadlocksEarly(database.adminUrl);
  twins = await startTwinProcesses(database);
}, SLACK_MS);

afterAll(async () => {
  await twins.close();
  await database.drop();
}, SLACK_MS);

test(
  `only one of ${CONTENDERS} contenders gets the last unit of a day's capacity`,
  async () => {
    const contest = await openContest(twins, CONTENDERS / 2);
    const expected = [200, ...Array.from({ length: CONTENDERS - 1 }, () => 409)];
    const reasons = new Set<string>();
    for (let trial = 0; trial < TRIALS; trial++) {
      const { statuses, refusals } = await contend(contest);
      expect({ statuses, refusals }).toEqual({ statuses: expected, refusals });
      for (const reason of refusals) reasons.add(reason);
      expect(await foundByTheService(twins.both[0])).toEqual([]);
    }
    expect([...reasons]).toContain("optionToken CAPACITY_EXHAUSTED");
    expect(await everythingBroken(twins.both[1])).toEqual([]);
    expect(await twins.stop()).toEqual([0, 0]);
    expect(await countDeadlocks(database.adminUrl)).toBe(0);
  },
  SLACK_MS + TRIALS * TRIAL_MS,
);
