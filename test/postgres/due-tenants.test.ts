import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../src/postgres/database.js";
import { advanceIdleTenants, beginTenants } from "../../src/postgres/tables/time-events/due-tenants.js";
import { clinicTimeZone } from "../../src/scheduling/local-clock.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { appointmentRow } from "./appointment-rows.js";
import { fillSchedule, numbered } from "./schedule-fill.js";

const tenantId = randomUUID();
const [THROUGH, UNTIL] = [at("09:00"), at("10:00")];
const query = {
  notBefore: new Date(at("10:00", "07")),
  until: new Date(UNTIL),
  today: "2030-01-08",
  timeZone: clinicTimeZone,
  noShowGraceMinutes: 15,
};

let database: TestDatabase;
let source: Database;
let client: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  source = openServiceDatabase(database.url);
  client = new Client(database.url);
  await client.connect();
  await client.query(`SET cupo.tenant_id = '${tenantId}'`);
  for (const statement of fillSchedule(tenantId, { slotsAhead: 0, slotsBehind: 0 })) await client.query(statement);
  await client.query(appointmentRow(tenantId, 1, { startsAt: UNTIL }));
  await client.query(`INSERT INTO event_feeds (tenant_id, last_position) VALUES ('${tenantId}', 0)`);
  await client.query(`INSERT INTO waitlist_entries (tenant_id, id, patient_id, service_id, date_from, date_to,
      preferred_periods, status, created_at)
    SELECT '${tenantId}', one, one, one, '2030-01-01', '2030-01-01', '{MORNING}', 'ACTIVE', now()
    FROM (SELECT '${numbered(1)}'::uuid AS one) AS first`);
  await beginTenants(source, new Date(THROUGH));
});

afterAll(async () => {
  await client.end();
  await source.close();
  await database.drop();
});

describe("a tenant may have due events between 9:00, exclusive, and 10:00, inclusive,", () => {
  test.each<[string, string, boolean]>([
    ["PENDING", at("09:00:00", "09"), false],
    ["PENDING", at("09:00:01", "09"), true],
    ["CONFIRMED", at("10:00:00", "09"), true],
    ["PENDING", at("10:00:01", "09"), false],
    ["CHECKED_IN", at("09:30:00", "09"), false],
    ["PENDING", at("08:45:00"), false],
    ["PENDING", at("08:45:01"), true],
    ["PENDING", at("09:45:00"), true],
    ["PENDING", at("09:45:01"), false],
  ])("with a %s appointment at %s: %s", async (status, startsAt, isDue) => {
    await set({ through: THROUGH, status, startsAt, dateTo: "2030-01-07" });
    await expectDue(isDue, THROUGH);
  });

  test.each([
    ["2030-01-06", null, false],
    ["2030-01-07", null, true],
    ["2030-01-07", "2030-01-07", false],
    ["2030-01-08", null, false],
  ])(
    "with a waitlist entry through %s that was closed on %s, since the evening before: %s",
    async (dateTo, closed, isDue) => {
      const through = at("23:00", "07");
      await set({ through, status: "PENDING", startsAt: at("15:00"), dateTo, closed });
      await expectDue(isDue, through);
    },
  );
});

test("a tenant is examined after a smaller id only, and until its events of the time are written", async () => {
  const due = { status: "PENDING", startsAt: at("10:00", "09"), dateTo: "2030-01-08" };
  await set({ ...due, through: THROUGH });
  expect(await advanceIdleTenants(source, tenantId, query)).toEqual({ due: [], last: undefined });
  await set({ ...due, through: UNTIL });
  expect(await advanceIdleTenants(source, undefined, query)).toEqual({ due: [], last: undefined });
});

/** Requires that the tenant is due and stays at `through`, or is idle and advances. */
async function expectDue(isDue: boolean, through: string): Promise<void> {
  expect(await advanceIdleTenants(source, undefined, query)).toEqual({ due: isDue ? [tenantId] : [], last: tenantId });
  const { rows } = await client.query("SELECT through FROM time_event_progress");
  expect(rows).toEqual([{ through: new Date(isDue ? through : UNTIL) }]);
}

interface State {
  readonly through: string;
  readonly status: string;
  readonly startsAt: string;
  readonly dateTo: string;
  readonly closed?: string | null;
}

async function set({ through, status, startsAt, dateTo, closed = null }: State): Promise<void> {
  await client.query("UPDATE time_event_progress SET through = $1", [through]);
  await client.query(
    "UPDATE appointments SET status = $1, starts_at = $2, ends_at = $2::timestamptz + interval '20 min'",
    [status, startsAt],
  );
  await client.query(
    "UPDATE waitlist_entries SET date_to = $1, closed_at = $2, closed_by = left($3, 0), close_reason = left($3, 0)",
    [dateTo, closed, closed],
  );
}

function at(time: string, day = "08"): string {
  return `2030-01-${day}T${time}-05:00`;
}
