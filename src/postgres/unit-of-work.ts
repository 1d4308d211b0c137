import type { Call, CallTrace, Principal, Statement, Transaction } from "../call.js";
import { tenantSuspended } from "../errors.js";
import type { IdempotencyClaim, IdempotentWork, Outcome } from "../interceptors/idempotency.js";
import { appendAudit } from "./audit.js";
import { noConnection, unavailabilityOf } from "./call-failure.js";
import { readRecords } from "./columns.js";
import type { Database } from "./database.js";
import { claimKey, DeferredResponse, findResult, keyHash, type ResultRecord, storeResult } from "./idempotency-keys.js";
import type { PipelinedTransaction } from "./pipelined-transaction.js";
import { prepared } from "./prepared.js";
import type { ReplicaReads } from "./replica/replica-reads.js";
import { runTransaction, type TransactionSource, type TransactionWork } from "./run-transaction.js";
import { sql } from "./sql.js";
import { classifyFailure, condemnsConnections, RaceLost } from "./sql-errors.js";
import type { TransactionLimits } from "./transaction-start.js";
import { uniqueConflict } from "./unique-conflict.js";

/**
 * Options of the unit of work. The inherited `lockTimeoutMs` limits the wait for an idempotency key that another call
 * has claimed.
 */
export interface UnitOfWorkOptions extends TransactionLimits {
  /**
   * How long a call that changes data waits for each row lock, in milliseconds. The value must exceed the time for
   * which other calls hold locks: 1 to 2 s for a call that creates slots on a busy machine.
   */
  readonly workLockTimeoutMs: number;
  /** Waits a random time before retry `attempt` (from 1) after a conflict, so that calls do not collide again. */
  readonly backOff: (attempt: number) => Promise<void>;
  /** Called after each committed call that has effects, never after reads. The call does not wait for this function. */
  readonly onCommitted?: (tenantId: string) => void;
  /** Tries to run the reads whose `isReplicable` is true. The primary runs all reads that the replica did not run. */
  readonly replica?: ReplicaReads | undefined;
}

/** Runs the operation and returns the bytes of its response. */
type Work = () => Promise<Uint8Array>;

/** `endsEarly`: see `TransactionStart`. `instead`: returns work to run after an error, see {@link runTransaction}. */
interface RunOptions<T> {
  readonly endsEarly?: boolean;
  readonly instead?: (error: unknown) => Promise<TransactionWork<T>>;
}

const MAX_RETRIES = 3;

/**
 * Runs calls in transactions. A call with an idempotency key has one transaction: the claim of the idempotency key, all
 * changes, the audit rows and the stored response commit together or not at all.
 */
export class UnitOfWork implements IdempotentWork {
  readonly #patience: Statement;

  constructor(
    private readonly database: Database,
    private readonly options: UnitOfWorkOptions,
  ) {
    this.#patience = prepared([], () => sql.raw(`SET LOCAL lock_timeout = ${options.workLockTimeoutMs}`))({});
  }

  /**
   * Runs `work` under an idempotency key. `work` uses `call.transaction` and returns the bytes to store. If the key was
   * used before, PostgreSQL runs no statement of the work. The outcome is then the stored response, or the reason why
   * there is none.
   *
   * `work` runs again:
   * - up to three times after conflicts: serialization failure, deadlock, {@link RaceLost}
   * - once after a lost connection; the key then shows whether the first run committed
   * - once if a pooler lost named statements
   *
   * Rejects with the error of the work, a conflict of {@link uniqueConflict}, a conflict for an inactive tenant, or a
   * 503.
   */
  async execute(claim: IdempotencyClaim, call: Call, principal: Principal, work: Work): Promise<Outcome> {
    const outcome = await this.#repeat((isRerun) => this.#attempt(claim, call, principal, work, isRerun));
    const isDone = outcome.kind === "EXECUTED" || (outcome.kind === "REPLAY" && outcome.isOwn);
    if (isDone && call.effects.length > 0) this.options.onCommitted?.(claim.tenantId);
    return outcome;
  }

  /**
   * Runs a read without an idempotency key. Tries the replica first if there is one and `isReplicable` is true. If the
   * replica does not run the read, the primary runs it. The primary repeats a read after the same failures as in
   * {@link execute}.
   */
  async read<T>(call: Call, principal: Principal, work: () => Promise<T>, isReplicable = false): Promise<T> {
    const { tenantId } = principal;
    const read = async (transaction: PipelinedTransaction) => {
      bind(call, transaction);
      return work();
    };
    const start = { scope: { tenantId }, limits: this.options, trace: call.trace };
    const readOnPrimary = () => this.#run(call, tenantId, read, { endsEarly: true });
    const done = isReplicable ? await this.options.replica?.attempt(call.operation ?? "", start, read) : undefined;
    return done === undefined ? this.#repeat(readOnPrimary) : done.result;
  }

  #attempt(claim: IdempotencyClaim, call: Call, principal: Principal, work: Work, isRerun: boolean): Promise<Outcome> {
    let claimFailure: Promise<unknown> = Promise.resolve(undefined);
    const execute = async (transaction: PipelinedTransaction): Promise<Outcome> => {
      const stored = new DeferredResponse();
      const lockTimeoutMs = this.database.plansOnce ? this.options.workLockTimeoutMs : undefined;
      claimFailure = failureOf(transaction.rows(claimKey(claim, stored, lockTimeoutMs)));
      if (lockTimeoutMs === undefined) transaction.send(this.#patience);
      bind(call, transaction);
      const response = await work();
      if (!stored.set(response)) transaction.send(storeResult(claim, response));
      for (const row of appendAudit(call, principal, () => keyHash(claim))) transaction.send(row);
      return { kind: "EXECUTED" };
    };
    const instead = async (error: unknown) => explainClaim(claim, await claimFailure, error, isRerun);
    return this.#run(call, claim.tenantId, execute, { instead });
  }

  /** Runs a transaction of the call. Getting the connection is traced, and a failure to get one becomes a 503. */
  #run<T>(
    { trace }: Call,
    tenantId: string,
    work: TransactionWork<T>,
    { endsEarly = false, instead }: RunOptions<T>,
  ): Promise<T> {
    const { database } = this;
    const source: TransactionSource = {
      acquire: () => this.#acquire(trace),
      get namedStatements() {
        return database.namedStatements;
      },
      get plansOnce() {
        return database.plansOnce;
      },
      unnameStatements: () => database.unnameStatements(),
    };
    return runTransaction(source, { scope: { tenantId }, limits: this.options, trace, endsEarly }, work, instead);
  }

  async #acquire(trace: CallTrace | undefined): ReturnType<Database["acquire"]> {
    const end = trace?.begin("connection");
    try {
      const client = await this.database.acquire();
      end?.();
      return client;
    } catch (error) {
      end?.(error);
      throw noConnection(error);
    }
  }

  async #repeat<T>(run: (isRerun: boolean) => Promise<T>): Promise<T> {
    let retries = 0;
    let lost = false;
    for (;;) {
      try {
        return await run(lost);
      } catch (error) {
        const failure = classifyFailure(error);
        if (condemnsConnections(failure)) this.database.discardConnections();
        if (failure === "LOST" && !lost) {
          lost = true;
        } else if (failure === "RETRY" && retries < MAX_RETRIES) {
          retries += 1;
          await this.options.backOff(retries);
        } else {
          if (error instanceof RaceLost) throw error.refusal;
          throw unavailabilityOf(error, this.options.statementTimeoutMs) ?? uniqueConflict(error) ?? error;
        }
      }
    }
  }
}

/** Sets the transaction of the call. Empties `call.effects`, because an earlier attempt may have added some. */
function bind(call: Call, transaction: Transaction): void {
  call.transaction = transaction;
  call.effects.length = 0;
}

/**
 * Handles a failed transaction of {@link UnitOfWork.execute}. If the key is in use or was used before, returns work for
 * a new transaction that finds the outcome. Otherwise throws a conflict (the tenant is not active), the error of the
 * claim, or, if the claim succeeded, `error`.
 */
async function explainClaim(
  claim: IdempotencyClaim,
  claimFailure: unknown,
  error: unknown,
  isRerun: boolean,
): Promise<TransactionWork<Outcome>> {
  if (claimFailure === undefined) throw error;
  const failure = classifyFailure(claimFailure);
  if (failure === "LOCK_TIMEOUT") return async () => ({ kind: "IN_PROGRESS" });
  if (failure === "NO_ROW") throw tenantSuspended();
  if (failure !== "UNIQUE_VIOLATION") throw claimFailure;
  return (transaction) => readOutcome(transaction, claim, isRerun);
}

/**
 * Returns the outcome for a key that another call or an earlier attempt of this call has used. `transaction` is new,
 * because the failed claim has aborted the first one.
 */
async function readOutcome(
  transaction: PipelinedTransaction,
  claim: IdempotencyClaim,
  isRerun: boolean,
): Promise<Outcome> {
  const [[stored]] = await Promise.all([
    readRecords<ResultRecord>(transaction, findResult(claim)),
    transaction.commit(),
  ]);
  if (stored === undefined) return { kind: "IN_PROGRESS" };
  if (stored.response === undefined) return { kind: "ERASED" };
  if (!stored.fingerprint.equals(claim.fingerprint)) return { kind: "REUSED" };
  return { kind: "REPLAY", response: stored.response, isOwn: isRerun && stored.correlationId === claim.correlationId };
}

function failureOf(sent: Promise<unknown>): Promise<unknown> {
  return sent.then(
    () => undefined,
    (error: unknown) => error,
  );
}
