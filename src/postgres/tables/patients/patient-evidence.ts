import type { Principal, ReadyCall, RequiredStatement, Transaction } from "../../../call.js";
import { newId } from "../../../uuid.js";
import { type ColumnsOf, readRecords } from "../../columns.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";
import { type ListPage, latestFirst } from "../resources/lists.js";

/** One access of a principal to the data of a patient. */
export interface AccessRecord {
  readonly id: string;
  readonly patientId: string;
  readonly accessedAt: Date;
  readonly principal: string;
  readonly actor: string | undefined;
  /** Full name of the RPC. */
  readonly operation: string;
  readonly correlationId: string;
}

/** Evidence of a patient's consent. */
export interface ConsentRecord {
  readonly id: string;
  readonly patientId: string;
  readonly grantedAt: Date;
  readonly recordedAt: Date;
  readonly principal: string;
  readonly correlationId: string;
}

const ACCESS_COLUMNS = {
  id: "id",
  patientId: "patient_id",
  accessedAt: "accessed_at",
  principal: "principal",
  actor: "actor",
  operation: "operation",
  correlationId: "correlation_id",
} satisfies ColumnsOf<AccessRecord>;

const CONSENT_COLUMNS = {
  id: "id",
  patientId: "patient_id",
  grantedAt: "granted_at",
  recordedAt: "recorded_at",
  principal: "principal",
  correlationId: "correlation_id",
} satisfies ColumnsOf<ConsentRecord>;

const insertConsentRow = prepared(
  ["tenant_id", "id", "patient_id", "granted_at", "principal", "correlation_id"],
  (row) => sql("patient_consents").insert(row),
);

/** When a consent was granted (RFC 3339), and the principal and the call that recorded the consent. */
export interface GivenConsent {
  readonly grantedAt: string;
  readonly principal: Principal;
  readonly correlationId: string;
}

/** Returns a statement that inserts a consent. The statement fails if the tenant has no such patient. */
export function insertConsent(
  { tenantId }: Transaction,
  patientId: string,
  { grantedAt, principal, correlationId }: GivenConsent,
): RequiredStatement {
  return {
    required: insertConsentRow({
      tenant_id: tenantId,
      id: newId(),
      patient_id: patientId,
      granted_at: grantedAt,
      principal: principal.id,
      correlation_id: correlationId,
    }),
  };
}

/**
 * Inserts an access record for each of these patients: the call has read their data. Omits ids that do not exist. The
 * text of the statement does not depend on the number of patients, because each different text is prepared separately.
 */
export function insertAccessRecords(
  { transaction, principal, actor, operation, correlationId }: ReadyCall,
  patientIds: readonly string[],
): void {
  if (patientIds.length === 0) return;
  const ids = patientIds.map(() => newId());
  transaction.send(
    sql.raw(
      `INSERT INTO patient_access_records (tenant_id, id, patient_id, operation, principal, actor, correlation_id)
       SELECT p.tenant_id, access.id, p.id, ?::text, ?::text, ?::text, ?::uuid
       FROM unnest(?::uuid[], ?::uuid[]) AS access (id, patient_id)
       JOIN patients p ON p.tenant_id = ? AND p.id = access.patient_id`,
      [operation, principal.id, actor ?? null, correlationId, ids, patientIds as string[], transaction.tenantId],
    ),
  );
}

/**
 * Settings for {@link listAccessRecords}. With them, the planner reads the indexes of the partitions in the order of
 * the list and stops after the page. Without them, it may read and sort all records of the patient.
 */
const IN_ORDER = ["SET LOCAL enable_sort = off", "SET LOCAL enable_bitmapscan = off", "SET LOCAL enable_seqscan = off"];

/** Returns one page of the access records of a patient, the latest first. */
export async function listAccessRecords(
  transaction: Transaction,
  patientId: string,
  page: ListPage,
): Promise<AccessRecord[]> {
  for (const setting of IN_ORDER) transaction.send(sql.raw(setting));
  const order = { table: "patient_access_records", time: "accessed_at" };
  const query = sql(order.table).where({ tenant_id: transaction.tenantId, patient_id: patientId });
  return readRecords(transaction, latestFirst(transaction, query.select(ACCESS_COLUMNS), order, page));
}

/** Returns one page of the consents of a patient, the latest recorded first. */
export async function listConsents(
  transaction: Transaction,
  patientId: string,
  page: ListPage,
): Promise<ConsentRecord[]> {
  const order = { table: "patient_consents", time: "recorded_at" };
  const query = sql(order.table).where({ tenant_id: transaction.tenantId, patient_id: patientId });
  return readRecords(transaction, latestFirst(transaction, query.select(CONSENT_COLUMNS), order, page));
}
