import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rpcNamed } from "../contract/published-operations.js";
import { everythingBroken } from "../schedule/invariants.js";
import { runStorm } from "../schedule/storm.js";
import { type Send, STORM_SETTINGS } from "../schedule/storm-context.js";
import { createStormFixture } from "../schedule/storm-fixture.js";
import { type Balancer, startBalancer } from "../support/balancer.js";
import { createEmptyDatabase, execute, type TestDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { openProcessFixture, type ProcessFixture } from "../support/process-fixture.js";
import { compileRelease, hasSourcesOf, lastRelease } from "../support/released-service.js";
import type { RestAnswer } from "../support/rest-request.js";
import { callRpc } from "../support/rpc.js";
import { type CompiledService, compileService, type ServiceProcess } from "../support/service-process.js";
import { nextBeat } from "./beat.js";
import { type Entry, type Journal, openJournal } from "./kill-storm-journal.js";
import { replayAll, wrongEffects } from "./kill-storm-verdict.js";
import { persist } from "./persist.js";
import { startSteadyLoad } from "./steady-load.js";

/** Successes of requests with a key in each phase of the rollout. ROLLOUT_REQUESTS sets it. */
const DONE_IN_PHASE = Number(process.env["ROLLOUT_REQUESTS"] || 8);
/** The number of earlier requests that each release must replay while both run. */
const REPLAYED = 20;
const SLACK_MS = 240_000;
const DAYS = 8;
const CHOICES = 20;
/** One connection per call, so that the balancer sends each to the next process, of either release. */
const TO_EITHER = { connection: "close" };
/** Milliseconds between the beats at which all callers of the storm send, so that their requests compete. */
const BEAT_MS = 750;
/** RPCs that the release before does not have. Calls of them are answered as it would, without being sent. */
const NEW_RPCS: ReadonlySet<string> = new Set([
  "ListDisplacedAppointments",
  "HoldAppointmentOption",
  "ReleaseHold",
  "ListHolds",
  "GetHold",
  "MoveAppointment",
  "ChangeAppointment",
  "BookSeries",
  "BookTogether",
  "MoveSeries",
  "CancelSeries",
  "EnterLateVisit",
  "EnterLateSteps",
  "SwapPractitioners",
]);
const UNIMPLEMENTED: RestAnswer = { status: 404, headers: new Headers(), text: "", body: {} };
/** Clients of the steady load beside the storm, over REST and as many over gRPC. They keep their connections. */
const CLIENTS = 1;

const release = lastRelease();
const reason = hasSourcesOf(release) ? "" : " (its commit is not in this clone: git fetch --unshallow)";

describe.skipIf(reason !== "")(`the release before this one, ${release.version}${reason}`, () => {
  let database: TestDatabase;
  let fixture: ProcessFixture;
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
    fixture = await openProcessFixture(database);
  }, SLACK_MS);

  afterAll(async () => {
    balancer.close();
    for (const compiled of [released, current]) compiled.stopAll();
    await fixture.close();
    await database.drop();
  }, SLACK_MS);

  /** Runs the job that drops the sums of waits while an older release serves. It may have built them before. */
  async function noticeOlder(): Promise<void> {
    const query = (statement: string) => execute(database.adminUrl, statement);
    await query("SELECT graphile_worker.add_job('summarize_waits', job_key => 'notice')");
    await eventually(async () => (await query("SELECT 1 FROM graphile_worker.jobs WHERE key = 'notice'")).length === 0);
  }

  test(
    "serves beside this one during migration and replacement: no request fails, and each release replays requests of the other",
    async () => {
      const old = await enter(released);
      const service = fixture.serviceAt(() => balancer);
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
      await noticeOlder();
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

  /** Starts a replica as a rollout does. Resolves when the balancer finds it ready. */
  async function enter(compiled: CompiledService): Promise<ServiceProcess> {
    const settings = { DRAIN_SECONDS: "2", PUBLIC_URL: balancer.publicUrl };
    const replica = await compiled.start({ ...fixture.environment, ...STORM_SETTINGS, ...settings });
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

  /** Starts a storm of bookings that runs until it is stopped. */
  async function startStorm(journal: Journal) {
    const service = fixture.serviceAt(() => balancer);
    const send: Send = async (rpc, request) => {
      await nextBeat(BEAT_MS);
      return NEW_RPCS.has(rpc) ? UNIMPLEMENTED : journal.send(rpc, request);
    };
    let isOver = false;
    const storm = { fixture: await createStormFixture(service), service, days: DAYS, choices: CHOICES, send };
    const over = runStorm({ ...storm, isOver: () => isOver, look: async () => undefined });
    return {
      async stop() {
        isOver = true;
        await over;
      },
    };
  }

  /** Sends executed requests to a replica again and returns the answers that are not the replay of the first one. */
  async function wrongReplays(replica: ServiceProcess, done: readonly Entry[]): Promise<string[]> {
    const service = fixture.serviceAt(() => replica);
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
