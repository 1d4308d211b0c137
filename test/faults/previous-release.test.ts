import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rpcNamed } from "../contract/published-operations.js";
import { everythingBroken } from "../schedule/invariants.js";
import { runStorm } from "../schedule/storm.js";
import { layStormGround } from "../schedule/storm-ground.js";
import { type Send, STORM_SETTINGS } from "../schedule/storm-terms.js";
import { type Balancer, startBalancer } from "../support/balancer.js";
import { createEmptyDatabase, execute, type TestDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { openProcessGround, type ProcessGround } from "../support/process-ground.js";
import { compileRelease, hasSourcesOf, lastRelease } from "../support/released-service.js";
import { callRpc } from "../support/rpc.js";
import { type CompiledService, compileService, type ServiceProcess } from "../support/service-process.js";
import { nextBeat } from "./beat.js";
import { type Entry, type Journal, openJournal } from "./kill-storm-journal.js";
import { replayAll, wrongEffects } from "./kill-storm-verdict.js";
import { persist } from "./persist.js";
import { startSteadyLoad } from "./steady-load.js";

/** Of the requests with a key so many are done in each phase of the rollout; ROLLOUT_REQUESTS makes it more. */
const DONE_IN_PHASE = Number(process.env["ROLLOUT_REQUESTS"] || 8);
/** How many of those that were done before are replayed by either release while both run. */
const REPLAYED = 20;
const SLACK_MS = 240_000;
const DAYS = 8;
const CHOICES = 20;
/** A connection for each call of the storm, so that the balancer sends it to the next process, of whichever release. */
const TO_EITHER = { connection: "close" };
/** The callers of the storm act together at each beat, so that their requests meet. */
const BEAT_MS = 750;
/** Clients that go on beside the storm and keep their connections, over REST and as many over gRPC. */
const CLIENTS = 1;

const release = lastRelease();
const reason = hasSourcesOf(release) ? "" : " (its commit is not in this clone: git fetch --unshallow)";

describe.skipIf(reason !== "")(`the release before this one, ${release.version}${reason}`, () => {
  let database: TestDatabase;
  let ground: ProcessGround;
  let balancer: Balancer;
  let released: CompiledService;
  let current: CompiledService;

  beforeAll(async () => {
    [database, released, current, balancer] = await Promise.all([
      createEmptyDatabase(),
      compileRelease(release),
      compileService(),
      startBalancer(),
    ]);
    ground = await openProcessGround(database);
  }, SLACK_MS);

  afterAll(async () => {
    balancer.close();
    for (const compiled of [released, current]) compiled.stopAll();
    await ground.close();
    await database.drop();
  }, SLACK_MS);

  test(
    "serves beside this one while its database is migrated and it is replaced: no request fails, and either replays what the other did",
    async () => {
      const old = await enter(released);
      const service = ground.serviceAt(() => balancer);
      const journal = openJournal([service], async () => undefined, TO_EITHER);
      const storm = await startStorm(journal);
      const load = startSteadyLoad(balancer, await service.token(), CLIENTS);
      await journal.more(DONE_IN_PHASE);
      const known = await migrations();

      const renewed = await enter(current);
      expect((await migrations()).length).toBeGreaterThan(known.length);
      await journal.more(DONE_IN_PHASE);
      for (const replica of [old, renewed]) expect(await wrongReplays(replica, doneIn(journal))).toEqual([]);

      await leave(old);
      const restarted = await journal.pauseDuring(() => enter(released));
      await journal.more(DONE_IN_PHASE);
      for (const replica of [restarted, renewed]) expect(await wrongReplays(replica, doneIn(journal))).toEqual([]);

      await leave(restarted);
      await journal.more(DONE_IN_PHASE);
      await storm.stop();
      expect({ unanswered: journal.unanswered, faults: journal.faults }).toEqual({ unanswered: [], faults: [] });
      const { answered, failed } = await load.stop();
      expect(failed).toEqual([]);
      console.log(`rollout from ${release.version}: ${doneIn(journal).length} keys, ${answered} calls beside them`);

      expect(await replayAll(journal)).toEqual([]);
      expect(await wrongEffects(journal, service)).toEqual([]);
      expect(await everythingBroken(service)).toEqual([]);
    },
    SLACK_MS + 4 * DONE_IN_PHASE * 200,
  );

  /** Starts a replica as a rollout does, and resolves when the balancer has it. */
  async function enter(compiled: CompiledService): Promise<ServiceProcess> {
    const settings = { DRAIN_SECONDS: "2", PUBLIC_URL: balancer.publicUrl };
    const replica = await compiled.start({ ...ground.environment, ...STORM_SETTINGS, ...settings });
    balancer.add(replica);
    await eventually(() => balancer.isReady(replica));
    return replica;
  }

  async function leave(replica: ServiceProcess): Promise<void> {
    const stopped = replica.stop();
    await eventually(() => !balancer.isReady(replica));
    expect(await stopped).toBe(0);
    balancer.remove(replica);
  }

  async function migrations(): Promise<unknown[]> {
    return execute(database.adminUrl, "SELECT name FROM schema_migrations");
  }

  /** A storm of bookings until it is stopped. */
  async function startStorm(journal: Journal) {
    const service = ground.serviceAt(() => balancer);
    const send: Send = async (rpc, request) => {
      await nextBeat(BEAT_MS);
      return journal.send(rpc, request);
    };
    let isOver = false;
    const terms = { ground: await layStormGround(service), service, days: DAYS, choices: CHOICES, send };
    const over = runStorm({ ...terms, isOver: () => isOver, look: async () => undefined });
    return {
      async stop() {
        isOver = true;
        await over;
      },
    };
  }

  /** What is wrong where a replica is sent again what was done, wherever that was. */
  async function wrongReplays(replica: ServiceProcess, done: readonly Entry[]): Promise<string[]> {
    const service = ground.serviceAt(() => replica);
    const wrong: string[] = [];
    for (const { rpc, request, key, success } of done.slice(-REPLAYED)) {
      const headers = { "idempotency-key": key };
      const answer = await persist(() => callRpc(service, rpcNamed(rpc), request, { headers }));
      const isReplay = answer.headers.get("idempotent-replayed") === "true";
      if (!isReplay || answer.text !== success?.text) wrong.push(`${rpc} ${answer.status} ${answer.text}`);
    }
    return wrong;
  }
});

function doneIn({ entries }: Journal): readonly Entry[] {
  return entries.filter(({ success }) => success !== undefined);
}
