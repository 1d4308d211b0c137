import { createHash } from "node:crypto";
import type { CallTrace } from "../call.js";
import { isLowerCaseUuid } from "../uuid.js";
import type { BatchedStatement } from "./batches/statement-batch.js";

/** Options of a transaction. */
export interface TransactionStart {
  readonly scope: TransactionScope;
  readonly limits: TransactionLimits;
  /** Whether statements are prepared under a name. Some connection poolers do not support named statements. */
  readonly namedStatements: boolean;
  /** Whether PostgreSQL makes generic query plans, that is, plans without regard to the values of the statement. */
  readonly plansOnce: boolean;
  /** The trace of the call that the transaction belongs to, if any. */
  readonly trace?: CallTrace | undefined;
  /**
   * If true, each batch of plain queries ({@link isPlainQuery}) ends with a COMMIT, until a batch contains another
   * statement. This batch and all later batches share one transaction, which is committed at the end of the work. Set
   * this only for work that does not need one transaction for all its batches.
   */
  readonly endsEarly?: boolean;
}

/**
 * The rows that row-level security shows to a transaction. With `tenantId`, these are the rows of one tenant. With
 * `setting`, these are rows of all tenants, for background work. A policy decides which rows the `cupo.*` setting
 * shows.
 */
export type TransactionScope =
  | { readonly tenantId: string }
  | { readonly setting: `cupo.${string}`; readonly value: string };

/** Time limits that every transaction sets, in milliseconds. */
export interface TransactionLimits {
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

/**
 * Sets the visible rows ({@link TransactionScope}), generic query plans and the time limits. One statement for each
 * setting would take three times as long.
 */
const SETTINGS = `SELECT set_config($1, $2, true), set_config('plan_cache_mode', 'force_generic_plan', true),
  set_config('statement_timeout', $3, true), set_config('lock_timeout', $4, true),
  set_config('idle_in_transaction_session_timeout', $5, true)`;
const PLAIN_VALUE = /^[\w ]+$/;
const MAX_NAMED_STATEMENTS = 1_000;
const statementNames = new Map<string, string>();

/** Returns the statements that begin a transaction: BEGIN and its settings. Throws for an invalid scope. */
export function beginningOf(start: TransactionStart): BatchedStatement[] {
  const begin = constantStatement("BEGIN", start);
  const { statementTimeoutMs, lockTimeoutMs, idleTimeoutMs } = start.limits;
  if (start.plansOnce) return [begin, settingsOf(start)];
  return [
    begin,
    { text: `SET LOCAL ${nameOf(start.scope)} = '${valueOf(start.scope)}'`, values: [], name: undefined },
    constantStatement(`SET LOCAL statement_timeout = ${statementTimeoutMs}`, start),
    constantStatement(`SET LOCAL lock_timeout = ${lockTimeoutMs}`, start),
    constantStatement(`SET LOCAL idle_in_transaction_session_timeout = ${idleTimeoutMs}`, start),
  ];
}

function settingsOf(start: TransactionStart): BatchedStatement {
  const { statementTimeoutMs, lockTimeoutMs, idleTimeoutMs } = start.limits;
  const values = [nameOf(start.scope), valueOf(start.scope), statementTimeoutMs, lockTimeoutMs, idleTimeoutMs];
  return { ...constantStatement(SETTINGS, start), values };
}

/** Returns a statement without values. With `namedStatements`, {@link statementName} decides its name. */
export function constantStatement(text: string, { namedStatements }: TransactionStart): BatchedStatement {
  return { text, values: [], name: namedStatements ? statementName(text) : undefined };
}

const QUERY = /^\s*(?:select|with)\b/i;
const NO_PLAIN_QUERY = /\b(?:insert|update|delete|share|set_config|pg_notify|\w*advisory\w*)\b/i;
const plainQueries = new Map<string, boolean>();

/**
 * Returns whether a statement looks like one that only reads. It must begin with SELECT or WITH. It must have none of
 * the words insert, update, delete, share, set_config and pg_notify, and no word that contains `advisory`. Case does
 * not matter. Does not recognize MERGE, SELECT INTO or other functions that write.
 */
export function isPlainQuery(sql: string): boolean {
  const known = plainQueries.get(sql);
  if (known !== undefined) return known;
  const isPlain = QUERY.test(sql) && !NO_PLAIN_QUERY.test(sql);
  if (plainQueries.size < MAX_NAMED_STATEMENTS) plainQueries.set(sql, isPlain);
  return isPlain;
}

function nameOf(scope: TransactionScope): string {
  return "tenantId" in scope ? "cupo.tenant_id" : scope.setting;
}

/**
 * Returns the value of the scope. Throws if a tenant id is not a lower-case UUID, or if the value of a `cupo.*` setting
 * has forbidden characters. These checks are needed because the text of SET LOCAL contains the value unescaped.
 */
function valueOf(scope: TransactionScope): string {
  if ("tenantId" in scope) {
    if (!isLowerCaseUuid(scope.tenantId)) throw new Error("the tenant of a transaction must be a lower-case UUID");
    return scope.tenantId;
  }
  if (!PLAIN_VALUE.test(scope.value))
    throw new Error(`the value of ${scope.setting} may only contain letters, digits, underscores and spaces`);
  return scope.value;
}

/**
 * Returns the name of a statement. Only the first 1,000 different texts get a name, because the server keeps named
 * statements as long as the connection lives. Returns undefined for later texts.
 */
export function statementName(sql: string): string | undefined {
  const known = statementNames.get(sql);
  if (known !== undefined || statementNames.size >= MAX_NAMED_STATEMENTS) return known;
  const name = `cupo_${createHash("sha256").update(sql).digest("base64url").slice(0, 22)}`;
  statementNames.set(sql, name);
  return name;
}
