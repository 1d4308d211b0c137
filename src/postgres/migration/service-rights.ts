/** A right of the service's role to a table. Row locks such as FOR UPDATE require UPDATE. */
export type TableRight = "SELECT" | "INSERT" | "UPDATE" | "DELETE";

const READ: readonly TableRight[] = ["SELECT"];
/** Rights to append-only tables. The role cannot delete rows, and can update only {@link erasableColumns}. */
const APPEND: readonly TableRight[] = ["SELECT", "INSERT"];
const REPLACE: readonly TableRight[] = ["SELECT", "INSERT", "DELETE"];
const CHANGE: readonly TableRight[] = ["SELECT", "INSERT", "UPDATE"];
const ALL: readonly TableRight[] = ["SELECT", "INSERT", "UPDATE", "DELETE"];

/** The rights of the service's role to each table of the schema `public`. `migrate` grants them. */
export const serviceRights: Readonly<Record<string, readonly TableRight[]>> = {
  schema_compatibility: READ,
  schema_migrations: READ,
  schema_migrations_lock: READ,
  schema_partitions: READ,

  audit_events: APPEND,
  appointment_history: APPEND,
  eligibility_decisions: APPEND,
  patient_access_records: APPEND,
  patient_changes: APPEND,
  patient_consents: APPEND,
  tenant_settings_history: APPEND,
  webhook_keys: APPEND,

  consumed_option_tokens: REPLACE,
  contract_services: REPLACE,
  event_outbox: REPLACE,
  event_positions: REPLACE,
  opportunity_changes: REPLACE,
  option_token_keys: REPLACE,
  patient_search_words: REPLACE,
  program_practitioners: REPLACE,
  program_services: REPLACE,

  appointment_types: CHANGE,
  appointments: CHANGE,
  calendars: CHANGE,
  cancellation_reasons: CHANGE,
  consultation_types: CHANGE,
  contracts: CHANGE,
  day_counters: CHANGE,
  event_feeds: CHANGE,
  healthcare_services: CHANGE,
  hold_holders: CHANGE,
  holidays: CHANGE,
  import_sources: CHANGE,
  imported_resources: CHANGE,
  locations: CHANGE,
  no_show_reasons: CHANGE,
  notes: CHANGE,
  opportunity_definitions: CHANGE,
  patients: CHANGE,
  payers: CHANGE,
  practitioners: CHANGE,
  program_rules: CHANGE,
  programs: CHANGE,
  request_sources: CHANGE,
  schedule_blocks: CHANGE,
  tenant_settings: CHANGE,
  tenants: CHANGE,
  time_event_progress: CHANGE,
  user_attention_cases: CHANGE,
  unfilled_minutes: CHANGE,
  waitlist_entries: CHANGE,

  appointment_holds: ALL,
  freed_slots: ALL,
  idempotency_keys: ALL,
  opportunity_states: ALL,
  opportunity_summaries: ALL,
  quota_windows: ALL,
  slots: ALL,
  webhook_deliveries: ALL,
  webhooks: ALL,
};

/**
 * Columns of append-only tables that the service may also update. Row-level security allows only updates that erase
 * personal data.
 */
export const erasableColumns: Readonly<Record<string, readonly string[]>> = {
  appointment_history: ["comment", "correction_reason", "visit_before"],
  patient_changes: ["former_document_number", "former_document_type", "reason"],
};

/**
 * The database functions that the service's role may call and other roles may not. They run with the rights of the
 * owner.
 */
export const serviceFunctions: readonly string[] = [
  "cupo_erase_rows(text,jsonb,integer)",
  "cupo_tend_partitions(timestamptz)",
];

/**
 * Returns a query for the tables and views of the job queue that a role cannot use: it lacks a right, or no policy of a
 * table with row-level security names the role. `name` is the SQL of the role's name. The queue's functions run with
 * the caller's rights. The query returns no rows if there is no queue.
 */
export function closedQueueTables(name: string): string {
  const held = ["SELECT", "INSERT", "UPDATE", "DELETE"].map((right) => `has_table_privilege(r.oid, c.oid, '${right}')`);
  return `SELECT c.relname::text AS table, c.relrowsecurity AS secured
    FROM pg_class c, pg_roles r WHERE r.rolname = ${name}
      AND c.relnamespace = to_regnamespace('graphile_worker') AND c.relkind IN ('r', 'v')
      AND NOT (${held.join(" AND ")} AND (NOT c.relrowsecurity
        OR EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid AND r.oid = ANY (polroles))))
    ORDER BY c.relname`;
}
