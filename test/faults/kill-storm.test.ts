import { randomInt } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { brokenInvariants, everythingBroken } from "../schedule/invariants.js";
import { runStorm } from "../schedule/storm.js";
import { layStormGround, type StormGround } from "../schedule/storm-ground.js";
import { startTwinProcesses, type TwinProcesses } from "../schedule/twin-processes.js";
import { type Deferred, deferred } from "../support/deferred.js";
import { eventually } from "../support/eventually.js";
import { type Journal, openJournal } from "./kill-storm-journal.js";
import { type KillablePostgres, startKillablePostgres } from "./kill-storm-postgres.js";
import { replayAll, wrongEffects } from "./kill-storm-verdict.js";

/** Who is killed by SIGKILL: PostgreSQL, one of the two processes of the service, or all three at once. */
type Victim = "POSTGRES" | "FIRST" | "SECOND" | "ALL";

const VICTIMS: readonly Victim[] = ["ALL", "POSTGRES", "FIRST", "SECOND"];
/** How often something is killed; KILLS makes it more. */
const KILLS = Number(process.env["KILLS"] || 2);
/** The next one comes when fewer than so many more requests are done, at random; one at least. */
const DONE_BETWEEN = 60;
const SLACK_MS = 120_000;
const KILL_MS = 10_000;
/** More than in a storm without kills, since those appointments stay whose caller left the answer for the end. */
const DAYS = 8;
const CHOICES = 20;

/** Commits that are acknowledged long before they are written down. */
const FORGETFUL = { synchronous_commit: "off", wal_writer_delay: "10s", wal_writer_flush_after: "1GB" };
const ATTEMPTS = 5;

let postgres: KillablePostgres;
let twins: TwinProcesses;
let ground: StormGround;
let outage: Deferred | undefined;

beforeAll(async () => {
  postgres = await startKillablePostgres();
  twins = await startTwinProcesses(postgres);
  ground = await layStormGround(twins.both[0]);
}, SLACK_MS);

afterAll(async () => {
  await twins.close();
  await postgres.close();
}, SLACK_MS);

describe("a storm in which processes and PostgreSQL are killed", () => {
  test(
    "loses nothing that was acknowledged, does nothing twice, and leaves the bookings in agreement",
    async () => {
      const journal = await stormWithKills(
        Array.from({ length: KILLS }, (_, i) => VICTIMS[i % VICTIMS.length] ?? "ALL"),
      );
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
      await killAndRestart("POSTGRES", FORGETFUL);
      const found: string[] = [];
      for (let attempt = 0; attempt < ATTEMPTS && found.length === 0; attempt++) {
        const journal = await stormWithKills(["POSTGRES"]);
        found.push(...(await replayAll(journal)), ...(await wrongEffects(journal, twins.both[0])));
      }
      expect(found).not.toEqual([]);
    },
    SLACK_MS,
  );
});

/** A storm that goes on until each of these was killed in turn, in the midst of it, and is back. */
async function stormWithKills(victims: readonly Victim[]): Promise<Journal> {
  const [service] = twins.both;
  const journal = openJournal(twins.both, async () => outage?.promise);
  let isOver = false;
  const broken: string[] = [];
  const kill = async () => {
    for (const victim of victims) {
      await journal.more(randomInt(1, DONE_BETWEEN));
      await killAndRestart(victim);
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

async function killAndRestart(victim: Victim, settings: Readonly<Record<string, string>> = {}): Promise<void> {
  outage = deferred();
  const processes = ([0, 1] as const).filter(
    (which) => victim === "ALL" || victim === (which === 0 ? "FIRST" : "SECOND"),
  );
  const isDatabaseKilled = victim === "ALL" || victim === "POSTGRES";
  await Promise.all([isDatabaseKilled && postgres.kill(), ...processes.map((which) => twins.kill(which))]);
  await Promise.all([
    isDatabaseKilled && postgres.restart(settings),
    ...processes.map((which) => twins.restart(which)),
  ]);
  await eventually(areReady);
  outage.resolve();
  outage = undefined;
}

async function areReady(): Promise<boolean> {
  const answers = await Promise.all(twins.both.map(({ internalUrl }) => fetch(`${internalUrl}/readyz`)));
  return answers.every(({ ok }) => ok);
}
