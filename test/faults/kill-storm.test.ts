import { randomInt } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { brokenInvariants, everythingBroken } from "../schedule/invariants.js";
import { openContest } from "../schedule/last-unit.js";
import { runStorm } from "../schedule/storm.js";
import { createStormFixture, offerFreedSlots, offerUntil, type StormFixture } from "../schedule/storm-fixture.js";
import { contendWhileKilled } from "./contest-while-killed.js";
import { type Journal, openJournal } from "./kill-storm-journal.js";
import { replayAll, wrongEffects } from "./kill-storm-verdict.js";
import { type KillableTwins, startKillableTwins, type Victim, victims } from "./killable-twins.js";
import { type LeftHolds, leaveHolds } from "./left-holds.js";

/** Number of kills, in the storm and in the contests. KILLS sets it. */
const KILLS = Number(process.env["KILLS"] || 2);
/** The next kill follows after a random number of successes below this, at least one. */
const DONE_BETWEEN = 60;
const SLACK_MS = 120_000;
const KILL_MS = 10_000;
/** Until holds of a minute have expired and their time was taken again. */
const EXPIRY_MS = 120_000;
/** More days than in a storm without kills: appointments whose answer was lost occupy slots until the end. */
const DAYS = 8;
const CHOICES = 20;
const CONTENDERS = 16;

/** With these settings PostgreSQL acknowledges commits long before it writes them. */
const FORGETFUL = { synchronous_commit: "off", wal_writer_delay: "10s", wal_writer_flush_after: "1GB" };
const ATTEMPTS = 5;

let twins: KillableTwins;
let fixture: StormFixture;

beforeAll(async () => {
  twins = await startKillableTwins();
  fixture = await createStormFixture(twins.both[0]);
  await offerFreedSlots(twins.both[0], fixture, DAYS);
}, SLACK_MS);

afterAll(() => twins.close(), SLACK_MS);

describe("a storm with kills of processes and PostgreSQL", () => {
  test(
    "loses nothing acknowledged, repeats nothing and leaves consistent bookings",
    async () => {
      const { journal, left } = await stormWithKills(victims(KILLS), "AFTER_EXPIRY");
      expect(await left?.wrongEnds()).toEqual([]);
      expect(await replayAll(journal)).toEqual([]);
      expect(await wrongEffects(journal, twins.both[0])).toEqual([]);
      expect(journal.contradictions()).toEqual([]);
      expect(await everythingBroken(twins.both[1])).toEqual([]);
      expect(journal.faults).toEqual([]);
      expect(journal.lost).not.toEqual([]);
    },
    SLACK_MS + EXPIRY_MS + KILLS * KILL_MS,
  );

  test(
    "detects the losses of a database that acknowledges commits before it writes them",
    async () => {
      const found: string[] = [];
      for (let attempt = 0; attempt < ATTEMPTS && found.length === 0; attempt++) {
        await twins.killAndRestart("POSTGRES", FORGETFUL);
        const { journal } = await stormWithKills(["POSTGRES"]);
        found.push(...(await replayAll(journal)), ...(await wrongEffects(journal, twins.both[0])));
      }
      expect(found).not.toEqual([]);
    },
    SLACK_MS,
  );
});

describe(`a contest of ${CONTENDERS} for the last unit of a day, with kills of processes and PostgreSQL`, () => {
  test(
    "has one winner after all keys are sent again, and leaves consistent bookings",
    async () => {
      const contest = await openContest(twins, CONTENDERS / 2);
      let lost = 0;
      for (const [trial, victim] of victims(KILLS).entries()) {
        const fight = await contendWhileKilled(contest, twins, victim, trial === 0 ? 0 : randomInt(CONTENDERS));
        expect(fight.wrong).toEqual([]);
        expect(await brokenInvariants(twins.both[1])).toEqual([]);
        lost += fight.lost;
      }
      expect(await everythingBroken(twins.both[0])).toEqual([]);
      expect(lost).toBeGreaterThan(0);
    },
    SLACK_MS + KILLS * KILL_MS,
  );

  test(
    "detects a second winner with a database that acknowledges commits before it writes them",
    async () => {
      const contest = await openContest(twins, CONTENDERS / 2);
      const found: string[] = [];
      for (let attempt = 0; attempt < ATTEMPTS && found.length === 0; attempt++) {
        await twins.killAndRestart("POSTGRES", FORGETFUL);
        found.push(...(await contendWhileKilled(contest, twins, "POSTGRES", 1)).wrong);
      }
      expect(found).not.toEqual([]);
    },
    SLACK_MS,
  );
});

/**
 * Runs a storm until each of these victims was killed and restarted during it. With `AFTER_EXPIRY`, some holds are left
 * before the first kill, and the last one follows after they have expired and the time of one was taken again.
 */
async function stormWithKills(
  killed: readonly Victim[],
  last?: "AFTER_EXPIRY",
): Promise<{ readonly journal: Journal; readonly left: LeftHolds | undefined }> {
  const [service] = twins.both;
  const journal = openJournal(twins.both, twins.recovery);
  const calm = { fixture, service, days: DAYS, choices: CHOICES, send: journal.send };
  const left = last === undefined ? undefined : await leaveHolds(calm);
  let isOver = false;
  const broken: string[] = [];
  const kill = async () => {
    for (const [i, victim] of killed.entries()) {
      if (i === killed.length - 1 && left !== undefined)
        await vi.waitUntil(() => left.isOver(), { timeout: EXPIRY_MS, interval: 500 });
      await journal.more(randomInt(1, DONE_BETWEEN));
      await twins.killAndRestart(victim);
      broken.push(...(await brokenInvariants(service)));
    }
  };
  const storm = { ...calm, isOver: () => isOver, look: async () => undefined };
  const killing = kill().finally(() => {
    isOver = true;
  });
  await Promise.all([runStorm(storm), killing, offerUntil(() => isOver, twins.databaseUrl)]);
  expect(broken).toEqual([]);
  return { journal, left };
}
