import { randomInt } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { brokenInvariants, everythingBroken } from "../schedule/invariants.js";
import { openContest } from "../schedule/last-unit.js";
import { runStorm } from "../schedule/storm.js";
import { layStormGround, type StormGround } from "../schedule/storm-ground.js";
import { contendWhileKilled } from "./contest-while-killed.js";
import { type Journal, openJournal } from "./kill-storm-journal.js";
import { replayAll, wrongEffects } from "./kill-storm-verdict.js";
import { type KillableTwins, startKillableTwins, type Victim, victims } from "./killable-twins.js";

/** How often something is killed, in the storm and in fights for the last unit; KILLS makes it more. */
const KILLS = Number(process.env["KILLS"] || 2);
/** The next one comes when fewer than so many more requests are done, at random; one at least. */
const DONE_BETWEEN = 60;
const SLACK_MS = 120_000;
const KILL_MS = 10_000;
/** More than in a storm without kills, since those appointments stay whose caller left the answer for the end. */
const DAYS = 8;
const CHOICES = 20;
const CONTENDERS = 16;

/** Commits that are acknowledged long before they are written down. */
const FORGETFUL = { synchronous_commit: "off", wal_writer_delay: "10s", wal_writer_flush_after: "1GB" };
const ATTEMPTS = 5;

let twins: KillableTwins;
let ground: StormGround;

beforeAll(async () => {
  twins = await startKillableTwins();
  ground = await layStormGround(twins.both[0]);
}, SLACK_MS);

afterAll(() => twins.close(), SLACK_MS);

describe("a storm in which processes and PostgreSQL are killed", () => {
  test(
    "loses nothing that was acknowledged, does nothing twice, and leaves the bookings in agreement",
    async () => {
      const journal = await stormWithKills(victims(KILLS));
      expect(await replayAll(journal)).toEqual([]);
      expect(await wrongEffects(journal, twins.both[0])).toEqual([]);
      expect(journal.contradictions()).toEqual([]);
      expect(await everythingBroken(twins.both[1])).toEqual([]);
      expect(journal.faults).toEqual([]);
      expect(journal.lost).not.toEqual([]);
    },
    SLACK_MS + KILLS * KILL_MS,
  );

  test(
    "is seen to lose something where the database acknowledges what it has not written down",
    async () => {
      const found: string[] = [];
      for (let attempt = 0; attempt < ATTEMPTS && found.length === 0; attempt++) {
        await twins.killAndRestart("POSTGRES", FORGETFUL);
        const journal = await stormWithKills(["POSTGRES"]);
        found.push(...(await replayAll(journal)), ...(await wrongEffects(journal, twins.both[0])));
      }
      expect(found).not.toEqual([]);
    },
    SLACK_MS,
  );
});

describe(`a fight of ${CONTENDERS} for the last unit of a day, in which processes and PostgreSQL are killed`, () => {
  test(
    "is won by one when all keys were sent again, and leaves the bookings in agreement",
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
    "is seen to have another winner where the database acknowledges what it has not written down",
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

/** A storm that goes on until each of these was killed in turn, in the midst of it, and is back. */
async function stormWithKills(killed: readonly Victim[]): Promise<Journal> {
  const [service] = twins.both;
  const journal = openJournal(twins.both, twins.recovery);
  let isOver = false;
  const broken: string[] = [];
  const kill = async () => {
    for (const victim of killed) {
      await journal.more(randomInt(1, DONE_BETWEEN));
      await twins.killAndRestart(victim);
      broken.push(...(await brokenInvariants(service)));
    }
    isOver = true;
  };
  const storm = {
    ground,
    service,
    days: DAYS,
    choices: CHOICES,
    send: journal.send,
    isOver: () => isOver,
    look: async () => undefined,
  };
  await Promise.all([runStorm(storm), kill()]);
  expect(broken).toEqual([]);
  return journal;
}
