import type { CallTrace, Transaction } from "../call.js";
import type { Database } from "./database.js";
import { PipelinedTransaction, type TransactionLimits, type TransactionScope } from "./pipelined-transaction.js";
import { classifyFailure } from "./sql-errors.js";

/** Where transactions get their connections. */
export type TransactionSource = Pick<Database, "acquire" | "namedStatements" | "unnameStatements">;

/** What is done in a transaction. It may commit by itself, to send COMMIT along with its last statement. */
export type TransactionWork<T> = (transaction: PipelinedTransaction) => Promise<T>;

const BACKGROUND_LIMITS: TransactionLimits = {
  statementTimeoutMs: 30_000,
  lockTimeoutMs: 2_000,
  idleTimeoutMs: 15_000,
};

/**
 * Does work in one transaction on a connection of its own, which it commits and gives back. Rejects, with nothing done, where
 * any of it fails; with what made it fail, where that is the failure of an earlier statement.
 *
 * `instead` is asked what to do in place of work that failed: it gives other work for a new transaction on the same
 * connection, begun on the way on which the failed one is rolled back, or rejects.
 *
 * Where a pooler lost what was prepared by name, nothing is from then on, and the work is done once more.
 */
export async function runTransaction<T>(
  source: TransactionSource,
  start: TransactionTerms,
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

interface TransactionTerms {
  readonly scope: TransactionScope;
  readonly limits: TransactionLimits;
  /** The trace of the call that it is for, where there is one. */
  readonly trace?: CallTrace | undefined;
}

async function attempt<T>(
  source: TransactionSource,
  start: TransactionTerms,
  work: TransactionWork<T>,
  instead: (error: unknown) => Promise<TransactionWork<T>>,
): Promise<T> {
  const client = await source.acquire();
  let transaction = new PipelinedTransaction(client, { ...start, namedStatements: source.namedStatements });
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

/** Does work that no call asked for in one transaction of a tenant. Rejects, with nothing done, where any of it fails. */
export function runAsTenant<T>(
  source: TransactionSource,
  tenantId: string,
  limits: TransactionLimits,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  return runTransaction(source, { scope: { tenantId }, limits }, work);
}

/**
 * Does background work over all tenants in one transaction. Policies of row-level security say what the setting opens to it;
 * everything else stays closed.
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
