import { randomInt } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { brokenInvariants, everythingBroken } from "../schedule/invariants.js";
import { runStorm } from "../schedule/storm.js";
import { STORM_SETTINGS } from "../schedule/storm-context.js";
import { createStormFixture } from "../schedule/storm-fixture.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { type BalancedReplicas, startBalancedReplicas } from "./balanced-replicas.js";
import { openJournal } from "./kill-storm-journal.js";
import { replayAll, wrongEffects } from "./kill-storm-verdict.js";

const REPLICAS = 3;
/** The replicas that are killed with SIGKILL, in turn. */
const VICTIMS: readonly (readonly number[])[] = [[0], [0, 1, 2], [1, 2], [1], [2]];
/** Number of kills. KILLS sets it. */
const KILLS = Number(process.env["KILLS"] || 2);
/** Successes of requests with a key between two kills. */
const DONE_BETWEEN = 40;
const SLACK_MS = 240_000;
const KILL_MS = 10_000;
const DAYS = 8;
const CHOICES = 20;

let database: TestDatabase;
let replicas: BalancedReplicas;

beforeAll(async () => {
  database = await createTestDatabase();
  replicas = await startBalancedReplicas(database, REPLICAS, STORM_SETTINGS);
}, SLACK_MS);

afterAll(async () => {
  await replicas.close();
  await database.drop();
}, SLACK_MS);

test(
  "a storm over three replicas behind a balancer with kills: nothing is lost or repeated, and there is no double booking",
  async () => {
    const { service, kill, restart } = replicas;
    const journal = openJournal([service], replicas.someReady);
    const fixture = await createStormFixture(service);
    const broken: string[] = [];
    let isOver = false;
    const killInTurn = async () => {
      for (let count = 0; count < KILLS; count++) {
        const victims = VICTIMS[count % VICTIMS.length] ?? [];
        await journal.more(DONE_BETWEEN);
        await kill(victims);
        if (victims.length < REPLICAS) await journal.more(randomInt(1, DONE_BETWEEN));
        await journal.pauseDuring(() => restart(victims));
        broken.push(...(await brokenInvariants(service)));
      }
      isOver = true;
    };
    const storm = { fixture, service, days: DAYS, choices: CHOICES, send: journal.send };
    await Promise.all([runStorm({ ...storm, isOver: () => isOver, look: async () => undefined }), killInTurn()]);
    const done = journal.entries.filter(({ success }) => success !== undefined).length;
    expect(broken).toEqual([]);
    const wrong = await replayAll(journal);
    const logged = service.log.filter(({ code }) => code === "INTERNAL_ERROR");
    expect({ wrong, logged }).toEqual({ wrong: [], logged: [] });
    expect(await wrongEffects(journal, service)).toEqual([]);
    expect(await everythingBroken(service)).toEqual([]);
    expect(journal.faults).toEqual([]);
    const counts = { keys: journal.entries.length, done, lost: journal.lost.length, kills: KILLS };
    console.log(`three replicas: ${JSON.stringify(counts)}`);
    expect(counts.done).toBeGreaterThanOrEqual(KILLS * DONE_BETWEEN);
    expect(counts.lost).toBeGreaterThan(0);
  },
  SLACK_MS + KILLS * KILL_MS,
);
