import type { CallTrace, Transaction } from "../call.js";
import type { Database } from "./database.js";
import { PipelinedTransaction } from "./pipelined-transaction.js";
import { sql } from "./sql.js";
import { classifyFailure } from "./sql-errors.js";
import type { TransactionLimits, TransactionScope } from "./transaction-start.js";

/** The source of connections for transactions. */
export type TransactionSource = Pick<Database, "acquire" | "namedStatements" | "plansOnce" | "unnameStatements">;

/** The work of a transaction. The work may call commit itself, so that COMMIT is sent with its last statement. */
export type TransactionWork<T> = (transaction: PipelinedTransaction) => Promise<T>;

const BACKGROUND_LIMITS: TransactionLimits = {
  statementTimeoutMs: 10_000,
  lockTimeoutMs: 2_000,
  idleTimeoutMs: 15_000,
};

/**
 * Runs work in one transaction on its own connection, commits the transaction and returns the result of the work. If
 * the work or the commit fails, `instead` receives the error. It returns other work, which runs in a new transaction on
 * the same connection. By default, `instead` rejects with the error.
 *
 * If `instead` or the other work fails, rolls back and rejects. If the error only reports that an earlier statement
 * aborted the transaction, rejects with the failure of the earlier statement.
 *
 * If a pooler lost named statements, the work runs once more with unnamed statements.
 */
export async function runTransaction<T>(
  source: TransactionSource,
  start: TransactionOptions,
  work: TransactionWork<T>,
  instead: (error: unknown) => Promise<TransactionWork<T>> = rethrow,
): Promise<T> {
  try {
    return await attempt(source, start, work, instead);
  } catch (error) {
    if (classifyFailure(error) !== "STATEMENTS_LOST") throw error;
    source.unnameStatements();
    return attempt(source, start, work, instead);
  }
}

interface TransactionOptions {
  readonly scope: TransactionScope;
  readonly limits: TransactionLimits;
  /** The trace of the call that the transaction belongs to, if any. */
  readonly trace?: CallTrace | undefined;
  /**
   * Whether each batch of statements ends with COMMIT, so that it is a transaction of its own. From the first statement
   * that does more than read, batches no longer end with COMMIT. Set this only for work that does not need one
   * transaction for all its reads.
   */
  readonly endsEarly?: boolean;
}

async function attempt<T>(
  source: TransactionSource,
  start: TransactionOptions,
  work: TransactionWork<T>,
  instead: (error: unknown) => Promise<TransactionWork<T>>,
): Promise<T> {
  const client = await source.acquire();
  let transaction = new PipelinedTransaction(client, {
    ...start,
    namedStatements: source.namedStatements,
    plansOnce: source.plansOnce,
  });
  try {
    let result: T;
    try {
      result = await complete(transaction, work);
    } catch (error) {
      const other = await instead(error);
      transaction = transaction.restart();
      result = await complete(transaction, other);
    }
    client.release();
    return result;
  } catch (error) {
    await transaction.rollback().then(
      () => client.release(),
      () => client.release(true),
    );
    throw rootCause(error, transaction);
  }
}

/**
 * Runs background work of one tenant in one transaction and returns the result of the work. If the work fails, rolls
 * back all changes and rejects. If the connection is lost during COMMIT, rejects although the changes may be committed.
 */
export function runAsTenant<T>(
  source: TransactionSource,
  tenantId: string,
  limits: TransactionLimits,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  return runTransaction(source, { scope: { tenantId }, limits }, work);
}

/** Reads whether a tenant is active. FOR SHARE makes a suspension of the tenant wait until this transaction ends. */
const IS_ACTIVE = "SELECT state = 'ACTIVE' AS active FROM tenants WHERE tenant_id = ? FOR SHARE";

/**
 * Runs background work like {@link runAsTenant}. If the tenant is suspended, being erased or erased, does not run the
 * work and returns undefined. A tenant without a row in the table `tenants` counts as active.
 */
export function runAsActiveTenant<T>(
  source: TransactionSource,
  tenantId: string,
  limits: TransactionLimits,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T | undefined> {
  return runAsTenant(source, tenantId, limits, async (transaction) => {
    const [tenant] = await transaction.rows<{ readonly active: boolean }>(sql.raw(IS_ACTIVE, [tenantId]));
    return tenant?.active === false ? undefined : work(transaction);
  });
}

/**
 * Runs background work over all tenants in one transaction and returns its result. Row-level security shows only the
 * rows that its policies allow for the setting in `scope`.
 */
export function runAcrossTenants<T>(
  source: TransactionSource,
  scope: Exclude<TransactionScope, { readonly tenantId: string }>,
  work: (transaction: Omit<Transaction, "tenantId">) => Promise<T>,
): Promise<T> {
  return runTransaction(source, { scope, limits: BACKGROUND_LIMITS }, work);
}

async function complete<T>(transaction: PipelinedTransaction, work: TransactionWork<T>): Promise<T> {
  const result = await work(transaction);
  if (!transaction.isCommitted) await transaction.commit();
  return result;
}

async function rethrow(error: unknown): Promise<never> {
  throw error;
}

function rootCause(error: unknown, transaction: PipelinedTransaction): unknown {
  return classifyFailure(error) === "ABORTED" ? (transaction.failure ?? error) : error;
}
