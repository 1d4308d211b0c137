import { randomInt, randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Event } from "../../src/gen/cupo/clinic/v1/event_pb.js";
import { startTwinProcesses, type TwinProcesses, type Which } from "../schedule/twin-processes.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { eventually } from "../support/eventually.js";
import { registration } from "../support/registration.js";
import type { RestAnswer } from "../support/rest-request.js";
import { hasPauses } from "./beat.js";
import { type PersistentWatcher, watchPersistently } from "./feed-watchers.js";

/**
 * How often a process is killed with SIGKILL, alternating between the two, so that every watch breaks. KILLS sets it.
 */
const KILLS = Number(process.env["KILLS"] || 2);
const WRITERS = 4;
const WATCHERS = 3;
/** Acknowledged changes between two kills. */
const DONE_BETWEEN = 60;
const SLACK_MS = 240_000;
const KILL_MS = 15_000;
const NO_ANSWER = { status: 0, body: {} };

let database: TestDatabase;
let twins: TwinProcesses;
let acknowledged = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  twins = await startTwinProcesses(database);
}, SLACK_MS);

afterAll(async () => {
  await twins.close();
  await database.drop();
}, SLACK_MS);

test(
  "processes killed under writes and watches: every watcher gets every audit row once, in one order",
  async () => {
    const watchers = await Promise.all(
      Array.from({ length: WATCHERS }, () => watchPersistently(twins.both, { remembers: true })),
    );
    const over = new AbortController();
    const again = () => more(DONE_BETWEEN / 3, over.signal);
    const forgetful = await watchPersistently(twins.both, { remembers: false, again });
    await writeThroughKills(over);
    const audit = await auditRows();
    expect(audit.length).toBeGreaterThanOrEqual(acknowledged);
    for (const { events } of watchers) await eventually(() => events.length >= audit.length);
    await Promise.all([...watchers, forgetful].map((watcher) => watcher.stop()));
    const [order] = watchers.map(idsOf);
    for (const watcher of watchers) {
      expect(idsOf(watcher)).toEqual(order);
      expect(watcher.broken()).toBeGreaterThan(1);
    }
    const [{ events } = { events: [] as readonly Event[] }] = watchers;
    expect(events.map(asAuditRow).toSorted(byId)).toEqual(audit);
    expect(outOfOrder(events)).toEqual([]);
    expect(idsOf(forgetful).length, "who forgets its cursor is seen to miss something").toBeLessThan(audit.length);
  },
  SLACK_MS + KILLS * KILL_MS,
);

/**
 * Lets several clients register and change patients until the processes have been killed and restarted this many times.
 */
async function writeThroughKills(over: AbortController): Promise<void> {
  let pause = Promise.resolve();
  const writers = Array.from({ length: WRITERS }, async () => {
    while (!over.signal.aborted) {
      await pause;
      await livePatient();
    }
  });
  for (let kill = 0; kill < KILLS; kill++) {
    const which: Which = kill % 2 === 0 ? 0 : 1;
    await more(DONE_BETWEEN);
    await twins.kill(which);
    await more(DONE_BETWEEN / 2);
    const restarted = twins.restart(which);
    if (hasPauses) pause = restarted;
    await restarted;
  }
  over.abort();
  await Promise.all(writers);
}

/** Resolves after this many more changes are acknowledged, or when `over` aborts. */
async function more(changes: number, over?: AbortSignal): Promise<void> {
  const enough = acknowledged + changes;
  await eventually(() => acknowledged >= enough || over?.aborted === true);
}

/** Registers a patient and changes it twice. */
async function livePatient(): Promise<void> {
  const { id } = (await persist("POST", "/patients", registration())).body;
  for (const expectedVersion of [1, 2]) {
    await persist("PATCH", `/patients/${String(id)}`, { fullName: "Ana", phone: "+57 300 555 0101", expectedVersion });
  }
}

/** Sends a request with one key to a random process until it is acknowledged. */
async function persist(method: string, path: string, body: object): Promise<Pick<RestAnswer, "status" | "body">> {
  const headers = { "idempotency-key": randomUUID() };
  let answer: Pick<RestAnswer, "status" | "body"> = NO_ANSWER;
  while (answer.status !== 200 && answer.status !== 201) {
    answer = await twins.both[randomInt(2) as Which].request(method, path, { headers, body }).catch(() => NO_ANSWER);
  }
  acknowledged += 1;
  return answer;
}

type Row = readonly [id: string, type: string, resourceId: string, version: number | undefined, correlationId: string];

async function auditRows(): Promise<Row[]> {
  const rows = await twins.both[0].query(
    `SELECT id, action, resource_type, resource_id, resource_version, correlation_id FROM audit_events`,
  );
  const verbs: Readonly<Record<string, string>> = { CREATE: "created", UPDATE: "updated" };
  return rows
    .map(
      (row): Row => [
        String(row["id"]),
        `cupo.${String(row["resource_type"]).toLowerCase()}.${verbs[String(row["action"])]}`,
        String(row["resource_id"]),
        Number(row["resource_version"]),
        String(row["correlation_id"]),
      ],
    )
    .toSorted(byId);
}

function asAuditRow({ eventId, type, resourceId, resourceVersion, correlationId }: Event): Row {
  return [eventId, type, resourceId, resourceVersion, correlationId];
}

function byId([a]: Row, [b]: Row): number {
  return a < b ? -1 : 1;
}

function idsOf({ events }: PersistentWatcher): string[] {
  return events.map(({ eventId }) => eventId);
}

/** Returns the events whose version is not one higher than that of the previous event of the same resource. */
function outOfOrder(events: readonly Event[]): Event[] {
  const versions = new Map<string, number>();
  return events.filter(({ resourceId, resourceVersion = 0 }) => {
    const before = versions.get(resourceId) ?? 0;
    versions.set(resourceId, resourceVersion);
    return resourceVersion !== before + 1;
  });
}
