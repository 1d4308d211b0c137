import { expect, test } from "vitest";
import { summarize } from "../../src/telemetry/traces/statement-summary.js";

test.each([
  ['insert into "patients" ("id", "full_name") values ($1, $2)', "INSERT", "patients"],
  ['select "id" from "programs" as "p" where "tenant_id" = $1 for update', "SELECT", "programs"],
  ['update "day_counters" set "used" = "used" + 1 where "tenant_id" = $1', "UPDATE", "day_counters"],
  ["DELETE FROM event_positions WHERE position IN (SELECT position FROM event_feeds)", "DELETE", "event_positions"],
  [
    'with "audit_event" as (insert into "audit_events" values ($1)) insert into "event_outbox" values ($2)',
    "INSERT",
    "audit_events",
  ],
  ["WITH due AS (SELECT sequence FROM event_outbox) SELECT * FROM due", "SELECT", "event_outbox"],
  ["WITH free AS (SELECT id FROM slots FOR NO KEY UPDATE OF s SKIP LOCKED) SELECT * FROM free", "SELECT", "slots"],
  ["WITH free AS (SELECT id FROM slots) SELECT * FROM free FOR UPDATE SKIP LOCKED", "SELECT", "slots"],
  ["SELECT extract(epoch FROM ends_at) FROM appointments", "SELECT", "appointments"],
  ["SELECT count(*) FROM graphile_worker.jobs", "SELECT", "jobs"],
  ["SELECT graphile_worker.add_job(identifier => $1)", "SELECT", undefined],
  ["SET LOCAL lock_timeout = 5000", "SET", undefined],
  ["COMMIT", "COMMIT", undefined],
  ["", "SQL", undefined],
])("the verb and table of a statement: %s", (text, verb, table) => {
  for (let i = 0; i < 2; i++) expect(summarize(text)).toEqual({ verb, table });
});
