import { readDistributedTables } from "../postgres/distributed-tables.js";
import type { TestService } from "../support/service.js";

/** The message for columns that these tests do not know. */
export const UNDECIDED = `These columns are new, or contain no data of the marked patient. If a column can hold data of a
patient, add a mark to it in marked-patient.ts, empty it in ErasePatient (see CONTRIBUTING.md) and, if it is in the table
patients, add it to its policy (0054-patient-policy). Otherwise add it to test/operations-clinic/personal-columns.ts, with the reason
why it holds no data of a patient`;

/** Types that hold no text or date written by a caller. In the table patients they can describe the person. */
const WITHOUT_TEXT = new Set(["uuid", "integer", "smallint", "bigint", "boolean", "timestamp with time zone"]);

const BY_WHOM = "the author: a client, or the opaque id of a member of staff";
const CODE = "a word from a fixed list of the service";
const OF_RECORD = "the time and the id of the record, which say nothing about the person";
const REQUESTED = "the request, under an id that identifies nobody; the opportunity report needs it";

/**
 * Columns that an erasure keeps, with the reason. A column in several tables has a line for each, or one with `*` if
 * its name has only one meaning.
 */
const KEPT: Readonly<Record<string, string>> = {
  "*.principal": BY_WHOM,
  "*.actor": BY_WHOM,
  "*.created_by": BY_WHOM,
  "*.created_by_actor": BY_WHOM,
  "*.updated_by": BY_WHOM,
  "*.updated_by_actor": BY_WHOM,
  "*.taken_by": BY_WHOM,
  "*.taken_by_actor": BY_WHOM,
  "*.closed_by": BY_WHOM,
  "*.closed_by_actor": BY_WHOM,
  "*.operation": CODE,
  "*.status": CODE,
  "*.desk_status": CODE,
  "appointment_history.from_status": CODE,
  "appointment_history.to_status": CODE,
  "audit_events.action": CODE,
  "audit_events.resource_type": CODE,
  "audit_events.details": CODE,
  "patients.tenant_id": OF_RECORD,
  "patients.id": OF_RECORD,
  "patients.version": OF_RECORD,
  "patients.merged_into": OF_RECORD,
  "patients.created_at": OF_RECORD,
  "patients.updated_at": OF_RECORD,
  "patients.erased_at": OF_RECORD,
  "patient_changes.kind": CODE,
  "import_sources.source_system": "the name of another system, chosen by the clinic",
  "import_sources.hash_key": "random bytes",
  "imported_resources.source_system": "the name of another system, chosen by the clinic",
  "imported_resources.kind": CODE,
  "imported_resources.source_key":
    "the keyed hash of an id in another system, so that nobody is imported again after an erasure",
  "imported_resources.content_hash": "a keyed hash, which an erasure empties: test/import/erased-patients.test.ts",
  "quota_windows.policy": CODE,
  "slots.retained_by": CODE,
  "user_attention_cases.category": CODE,
  "eligibility_decisions.reasons": "codes, fields and the service's own sentences",
  "eligibility_decisions.service_date": "evidence that care was covered, for bills",
  "appointments.local_date": "evidence that care was given, and when",
  "slots.local_date": "evidence that care was given, and when",
  "appointment_holds.local_date": "deleted with the hold by an erasure: held-options.test.ts",
  "day_counters.held": "the ends of holds, without patients",
  "freed_slots.offered_to": "the ids of waitlist entries, until the slot begins",
  "hold_holders.held": "the ends of holds, without patients",
  "day_counters.local_date": "the date of a counter, without a patient",
  "appointments.requested_on": REQUESTED,
  "appointments.assigned_on": REQUESTED,
  "appointments.due_on": REQUESTED,
  "appointments.desired_on": REQUESTED,
  "appointment_history.wait_before": REQUESTED,
  "appointments.modality": CODE,
  "waitlist_entries.earlier_wishes": REQUESTED,
  "opportunity_changes.requested_on": REQUESTED,
  "opportunity_changes.assigned_on": REQUESTED,
  "opportunity_changes.local_date": REQUESTED,
  "opportunity_changes.outcome": CODE,
  "waitlist_entries.date_from": REQUESTED,
  "waitlist_entries.date_to": REQUESTED,
  "waitlist_entries.due_on": REQUESTED,
  "user_attention_cases.due_on": REQUESTED,
  "waitlist_entries.preferred_periods": REQUESTED,
  "webhook_deliveries.event_type": CODE,
  "webhook_deliveries.resource_type": CODE,
  "webhook_deliveries.state": CODE,
  "webhook_deliveries.last_failure": CODE,
  "idempotency_keys.key_hash": "a digest of a random key and its sender",
  "idempotency_keys.fingerprint": "zeros after the result was erased; another test checks it",
};

/** Tables of the clinic that refer to no patient. */
const OF_THE_CLINIC = new Set([
  "appointment_types",
  "cancellation_reasons",
  "consultation_types",
  "contracts",
  "healthcare_services",
  "holidays",
  "locations",
  "no_show_reasons",
  "opportunity_definitions",
  "opportunity_summaries",
  "payers",
  "practitioners",
  "program_rules",
  "programs",
  "request_sources",
  "schedule_blocks",
  "tenant_settings",
  "tenant_settings_history",
  "tenants",
  "time_event_progress",
  "unfilled_minutes",
  "webhooks",
]);

/** Returns why an erasure keeps a column (`table.column`). Undefined if no reason is given. */
export function reasonFor(column: string): string | undefined {
  const [table = "", name = ""] = column.split(".");
  return (
    KEPT[column] ??
    KEPT[`*.${name}`] ??
    (OF_THE_CLINIC.has(table) ? "a table of the clinic, without patients" : undefined)
  );
}

/**
 * Returns the columns of tenants' tables (`table.column`) that can hold data of a patient: all columns of patients, and
 * those of other tables that can hold a text or date written by a caller.
 */
export async function readPersonalColumns(service: TestService): Promise<string[]> {
  const columns = await readColumns(service);
  const isPersonal = (column: string, type: string) => column.startsWith("patients.") || !WITHOUT_TEXT.has(type);
  return columns.filter(({ column, type }) => isPersonal(column, type)).map(({ column }) => column);
}

/** Returns the columns of tenants' tables that contain one of these texts, in any letter case. Searches bytes too. */
export async function columnsWith(service: TestService, marks: readonly string[]): Promise<string[]> {
  const { names } = await readDistributedTables(service.databaseUrl);
  const found = await Promise.all([...names].map((name) => columnsOfTableWith(service, name, marks)));
  return found.flat().toSorted();
}

async function columnsOfTableWith(
  service: TestService,
  table: string,
  marks: readonly string[],
): Promise<readonly string[]> {
  const rows = await service.query(`SELECT to_jsonb(t) AS row FROM ${table} AS t`);
  const found = rows.flatMap(({ row }) =>
    Object.entries(row as object).filter(([, value]) => {
      const text = textOf(value).toLowerCase();
      return marks.some((mark) => text.includes(mark));
    }),
  );
  return [...new Set(found.map(([column]) => `${table}.${column}`))];
}

async function readColumns(service: TestService): Promise<readonly { column: string; type: string }[]> {
  const { names } = await readDistributedTables(service.databaseUrl);
  const rows = await service.query(
    `SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'public'
     ORDER BY table_name, ordinal_position`,
  );
  return rows
    .filter((row) => names.has(String(row["table_name"])))
    .map((row) => ({
      column: `${String(row["table_name"])}.${String(row["column_name"])}`,
      type: String(row["data_type"]),
    }));
}

/** In JSON, bytes are `\\x` and hexadecimal digits. */
function textOf(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.startsWith("\\x") ? Buffer.from(text.slice(2), "hex").toString("latin1") : text;
}
