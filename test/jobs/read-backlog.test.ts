import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readBacklog } from "../../src/jobs/read-backlog.js";
import type { Database } from "../../src/postgres/database.js";
import type { Backlog } from "../../src/telemetry/metrics/service-metrics.js";
import { timeOfUuid7 } from "../../src/uuid.js";
import { holdFirst } from "../operations-clinic/hold-requests.js";
import { mustCall, openClinic } from "../schedule/clinic.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { registration } from "../support/registration.js";
import { startTestService, type TestService } from "../support/service.js";
import { freeSlot, openOfferingClinic, runOffers, wait } from "./offers-under-test.js";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

let service: TestService;
let database: Database;

beforeAll(async () => {
  service = await startTestService();
  database = openServiceDatabase(service.databaseUrl, 2);
});

afterAll(async () => {
  await database.close();
  await service.close();
});

beforeEach(() =>
  service.query(
    "UPDATE programs SET active = false; DELETE FROM graphile_worker._private_jobs; DELETE FROM event_outbox",
  ),
);

const read = (): Promise<Backlog> => readBacklog(database, service.now);

test("the backlog is zero if nothing waits", async () => {
  const nothing = { count: 0, oldestSeconds: 0 };
  const webhooks = { deliveries: nothing, disabledWebhooks: 0 };
  const holds = { live: 0, offered: 0, expired: 0 };
  expect(await read()).toEqual({ scheduleDays: 0, jobs: nothing, events: nothing, ...webhooks, holds });
});

test("holds are counted: live ones, offers to the waitlist, and those that expired in the last hour", async () => {
  service.stopAt(service.now());
  const clinic = await openOfferingClinic(service);
  await wait(clinic);
  await freeSlot(clinic);
  await runOffers(database, clinic);
  await mustCall(clinic, "ReleaseHold", { holdId: (await holdFirst(clinic)).holdId });
  const { expiresAt } = await holdFirst(clinic);
  service.stopAt(service.now() + MINUTE_MS);
  await holdFirst(clinic);
  await holdFirst(clinic);
  service.stopAt(Date.parse(expiresAt));
  expect((await read()).holds).toEqual({ live: 2, offered: 1, expired: 1 });
  service.stopAt(service.now() + HOUR_MS);
  expect((await read()).holds).toEqual({ live: 0, offered: 0, expired: 3 });
});

describe("the schedule backlog", () => {
  test("has the missing days of the shortest schedule of all tenants", async () => {
    const [first] = [await openClinic(service), await openClinic(service)];
    expect((await read()).scheduleDays).toBe(0);
    service.advance(2 * DAY_MS);
    expect((await read()).scheduleDays).toBe(2);
    await service.query(
      `UPDATE programs SET materialized_through = materialized_through - 3 WHERE id = '${first.programId}'`,
    );
    expect((await read()).scheduleDays).toBe(5);
  });

  test.each([
    ["that is inactive", (id: string) => `UPDATE programs SET active = false WHERE id = '${id}'`],
    ["without a service", (id: string) => `DELETE FROM program_services WHERE program_id = '${id}'`],
    [
      "whose location is inactive",
      (id: string) =>
        `UPDATE locations SET active = false WHERE id = (SELECT location_id FROM programs WHERE id = '${id}')`,
    ],
  ])("ignores a program %s", async (_, change) => {
    const { programId } = await openClinic(service);
    service.advance(4 * DAY_MS);
    expect((await read()).scheduleDays).toBe(4);
    await service.query(change(programId));
    expect((await read()).scheduleDays).toBe(0);
  });
});

test("the job backlog has only jobs that are due and neither locked nor out of attempts", async () => {
  await service.query(
    "SELECT graphile_worker.add_job('extend_schedule', job_key => n) FROM unnest(ARRAY['a','b','c','d','e']) n",
  );
  await service.query(
    `UPDATE graphile_worker._private_jobs SET run_at = now() - interval '1 hour' WHERE key = 'a';
     UPDATE graphile_worker._private_jobs SET run_at = now() + interval '1 hour' WHERE key = 'c';
     UPDATE graphile_worker._private_jobs SET locked_at = now(), locked_by = 'other', run_at = now() - interval '2 hours' WHERE key = 'd';
     UPDATE graphile_worker._private_jobs SET attempts = max_attempts, run_at = now() - interval '3 hours' WHERE key = 'e'`,
  );
  const { count, oldestSeconds } = (await read()).jobs;
  expect(count).toBe(2);
  expect(Math.round(oldestSeconds / 600)).toBe(6);
});

test("the event backlog has the events without a position, and the age of the oldest one", async () => {
  for (let i = 0; i < 3; i++) await service.request("POST", "/patients", { body: registration() });
  expect((await read()).events.count).toBe(3);
  const [oldest] = await service.query("SELECT audit_event_id FROM event_outbox ORDER BY sequence LIMIT 1");
  const hourAgo = (timeOfUuid7(String(oldest?.["audit_event_id"])) - HOUR_MS).toString(16).padStart(12, "0");
  const id = `${hourAgo.slice(0, 8)}-${hourAgo.slice(8)}-7000-8000-000000000000`;
  await service.query(
    `UPDATE event_outbox SET audit_event_id = '${id}' WHERE sequence = (SELECT min(sequence) FROM event_outbox)`,
  );
  const { count, oldestSeconds } = (await read()).events;
  expect([count, Math.round(oldestSeconds / 600)]).toEqual([3, 6]);
});
