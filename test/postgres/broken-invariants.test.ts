import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { verifyInvariants } from "../../src/postgres/tables/operations/invariants.js";
import { transactionOn } from "../support/client-transaction.js";
import { createTestDatabase, type TestDatabase } from "../support/database.js";
import { fillSchedule, numbered } from "./schedule-fill.js";
import { at, ERASED, MERGED, NOW, set, soundRows } from "./sound-rows.js";

const tenantId = randomUUID();
const REOPEN = "closed_at = NULL, closed_by = NULL, close_reason = NULL";

let database: TestDatabase;
let client: Client;
const transaction = transactionOn(() => client, tenantId);

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client(database.ownerUrl);
  await client.connect();
  await client.query(`SET cupo.tenant_id = '${tenantId}'`);
  // A superuser can write rows that the policies reject.
  for (const table of ["appointments", "patients", "slots"])
    await client.query(`ALTER TABLE ${table} NO FORCE ROW LEVEL SECURITY`);
  const filled = fillSchedule(tenantId, { slotsAhead: 0, slotsBehind: 0 });
  for (const statement of [...filled, ...soundRows(tenantId)]) await client.query(statement);
});

beforeEach(() => client.query("BEGIN"));

afterEach(() => client.query("ROLLBACK"));

afterAll(async () => {
  await client.end();
  await database.drop();
});

test("rows that only come close to a violation break no invariant", async () => {
  expect((await findings()).filter((name) => isChecked(name))).toEqual([]);
});

describe.each<[string, readonly [string, string][]]>([
  [
    "APPOINTMENT_INVALID",
    [
      ["version 0", set("appointments", 101, "version = 0")],
      ["no duration", set("appointments", 101, "ends_at = starts_at")],
      ["overbooked, with a rule", set("appointments", 101, "overbooked = true, overbooking_reason = 'Urgente'")],
      ["overbooked, without a reason", set("appointments", 103, "overbooking_reason = NULL")],
    ],
  ],
  [
    "BLOCK_IGNORED",
    [
      ["a slot that ends in the block of its practitioner", set("slots", 401, `ends_at = ${at("10:25")}`)],
      ["a slot that begins in the block of its practitioner", set("slots", 403, `starts_at = ${at("10:35")}`)],
      ["a slot that ends in the block of its program", set("slots", 405, `ends_at = ${at("10:25")}`)],
      ["a slot that begins in the block of its program", set("slots", 406, `starts_at = ${at("10:35")}`)],
      ["a slot in the block of its location", set("schedule_blocks", 505, `starts_at = ${at("11:10")}`)],
    ],
  ],
  ["BLOCK_OVER", [["a slot retained by a cancelled block", set("schedule_blocks", 501, "cancelled_at = updated_at")]]],
  [
    "ERASED_PATIENT_KNOWN",
    [
      ["active", set("patients", ERASED, "status = 'ACTIVE'")],
      ["an email address", set("patients", ERASED, "email = 'ana@example.com'")],
      ["words to search for", set("patients", ERASED, "search_words = '{ana}'")],
      ["a future appointment", set("appointments", 105, "status = 'PENDING'")],
      ["the comment of an appointment", set("appointments", 105, "comment = 'Ana'")],
      ["the reason of an overbooking", set("appointments", 105, "overbooking_reason = 'Ana'")],
      ["the link to a call", set("appointments", 105, "join_link = 'https://example.com', modality = 'VIDEO'")],
      ["an open waitlist entry", set("waitlist_entries", 302, REOPEN)],
      ["the reason of a closed waitlist entry", set("waitlist_entries", 302, "close_reason = 'Ana'")],
      ["an open case", set("user_attention_cases", 312, REOPEN)],
      ["the description of a closed case", set("user_attention_cases", 312, "description = 'Ana'")],
      ["a hold", set("appointment_holds", 206, `patient_id = '${numbered(ERASED)}'`)],
      ["a note", set("notes", 322, "removed = false, text = 'Ana'")],
    ],
  ],
  ["HELD_COUNT_WRONG", [["a hold without its unit", "UPDATE day_counters SET held = '{}'"]]],
  [
    "HOLD_OUTLIVED",
    [
      ["a hold that ended after it expired", set("appointment_holds", 206, "ended_at = expires_at + interval '1 ms'")],
      [
        "a hold that expires after its start",
        set("appointment_holds", 201, "expires_at = starts_at + interval '1 ms'"),
      ],
    ],
  ],
  [
    "HOLD_OVERLAP",
    [
      ["two holds of a patient", set("appointment_holds", 204, `starts_at = ${at("10:19")}`)],
      ["a hold and a later appointment", set("appointments", 102, `starts_at = ${at("10:29")}`)],
      ["a hold and an earlier appointment", set("appointments", 104, `ends_at = ${at("10:01")}`)],
    ],
  ],
  [
    "MERGED_PATIENT_IN_USE",
    [
      ["active", set("patients", MERGED, "status = 'ACTIVE'")],
      ["merged into itself", set("patients", MERGED, "merged_into = id")],
      ["a hold", set("appointment_holds", 206, `patient_id = '${numbered(MERGED)}'`)],
      ["an appointment", set("appointments", 105, `patient_id = '${numbered(MERGED)}'`)],
      ["a waitlist entry", set("waitlist_entries", 302, `patient_id = '${numbered(MERGED)}'`)],
      ["a case", set("user_attention_cases", 312, `patient_id = '${numbered(MERGED)}'`)],
    ],
  ],
  [
    "OFFER_WRONG",
    [
      ["an offer for another patient", set("appointment_holds", 208, `patient_id = '${numbered(9)}'`)],
      ["an offer of another service", set("appointment_holds", 208, `service_id = '${numbered(2)}'`)],
      ["an offer for an unknown entry", set("appointment_holds", 208, `waitlist_entry_id = '${numbered(1)}'`)],
    ],
  ],
  ["SERIES_OF_SEVERAL", [["a series of two patients", set("appointments", 109, `patient_id = '${numbered(10)}'`)]]],
  [
    "SLOT_INVALID",
    [
      ["generation 0", set("slots", 401, "generation = 0")],
      ["no duration", set("slots", 401, "ends_at = starts_at")],
      ["free, without a rule", set("slots", 401, "rule_id = NULL")],
      ["free and retained", set("slots", 401, "retained = true, retained_by = 'RULES'")],
      ["a cause, but not retained", set("slots", 401, "retained_by = 'RULES'")],
      ["accepted, but not retained", set("slots", 401, "retention_accepted = true")],
      ["retained by no block", set("slots", 402, "retained_by_id = NULL")],
      ["retained by the rules and a block", set("slots", 402, "retained_by = 'RULES'")],
    ],
  ],
  ["WEBHOOK_CURSOR_WRONG", [["a cursor after its feed", "UPDATE event_feeds SET last_position = 4"]]],
  [
    "WEBHOOK_ORDER_WRONG",
    [
      ["a later event, delivered first", set("webhook_deliveries", 612, `resource_id = '${numbered(1)}'`)],
      ["an event of the same time, delivered first", set("webhook_deliveries", 613, `created_at = ${at("10:00")}`)],
    ],
  ],
])("%s is reported for", (name, defects) => {
  test.each(defects)("%s", async (_, defect) => {
    await client.query(defect);
    expect(await findings()).toContain(name);
  });
});

/** Names that the sound rows must not break. They have no history, no audit rows, and not all slots. */
function isChecked(name: string): boolean {
  return !/^(?:APPOINTMENT_WITHOUT_SLOT|AUDIT_MISSING|HISTORY_WRONG|DAY_COUNT_WRONG|SLOT_WRONG)$/.test(name);
}

async function findings(): Promise<string[]> {
  return (await verifyInvariants(transaction, Date.parse(NOW))).findings.map(({ name }) => name);
}
