import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { countDeadlocks, detectDeadlocksEarly } from "./deadlocks.js";
import { runStorm, STORM_RPCS } from "./storm.js";
import { createStormFixture, offerFreedSlots, offerUntil } from "./storm-fixture.js";
import { failuresLogged, recordStorm } from "./storm-record.js";
import { startTwinProcesses, type TwinProcesses } from "./twin-processes.js";

/** The shortest duration of the storm. STORM_SECONDS changes it. */
const STORM_MS = Number(process.env["STORM_SECONDS"] || 5) * 1_000;
const SLACK_MS = 240_000;
/** Few days, so that calls conflict at the same slots. */
const DAYS = 3;
const CHOICES = 20;

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
  "concurrent calls to two processes cause no server errors and no broken invariants",
  async () => {
    const [service] = twins.both;
    const fixture = await createStormFixture(service);
    await offerFreedSlots(service, fixture, DAYS);
    const record = recordStorm(twins);
    const end = performance.now() + STORM_MS;
    const successes = STORM_RPCS.map((rpc) => `${rpc} 200`);
    const hasSeenAll = () =>
      performance.now() > end + SLACK_MS / 2 ||
      (record.offers.size > 0 && successes.every((name) => record.answers.has(name)));
    const isOver = () => performance.now() > end && hasSeenAll();
    const storm = runStorm({ ...record, fixture, service, days: DAYS, choices: CHOICES, isOver });
    await Promise.all([storm, offerUntil(isOver, database.url, record.noteOffers)]);
    await record.noteOffers();
    await record.look();
    expect([...record.broken]).toEqual([]);
    expect(record.contradictions(fixture.capacities)).toEqual([]);
    expect({ serverErrors: record.serverErrors, logged: failuresLogged(twins) }).toEqual({
      serverErrors: [],
      logged: [],
    });
    expect(record.offers.size).toBeGreaterThan(0);
    expect([...record.answers.keys()]).toEqual(expect.arrayContaining(successes));
    expect(await twins.stop()).toEqual([0, 0]);
    expect(await countDeadlocks(database.adminUrl)).toBe(0);
  },
  STORM_MS + SLACK_MS,
);
