import type { Call, CallTrace, Principal, Statement, Transaction } from "../call.js";
import { databaseFull, resourceBusy, serviceUnavailable } from "../errors.js";
import type { IdempotencyClaim, IdempotentWork, Outcome } from "../interceptors/idempotency.js";
import { appendAudit } from "./audit.js";
import { readRecords } from "./columns.js";
import type { Database } from "./database.js";
import { claimKey, findResult, LateResponse, type ResultRecord, storeResult } from "./idempotency-keys.js";
import type { PipelinedTransaction, TransactionLimits } from "./pipelined-transaction.js";
import { prepared } from "./prepared.js";
import type { ReplicaReads } from "./replica/replica-reads.js";
import { runTransaction, type TransactionSource, type TransactionWork } from "./run-transaction.js";
import { sql } from "./sql.js";
import { classifyFailure, condemnsConnections, type DatabaseFailure, isAway } from "./sql-errors.js";
import { uniqueConflict } from "./unique-conflict.js";

/** The lock timeout of the limits is that of a key which another call has. */
export interface UnitOfWorkOptions extends TransactionLimits {
  /**
   * How long work waits for what other calls have locked. Who makes slots has them locked for a second or two on a busy
   * machine, and others wait for those who wait for them.
   */
  readonly workLockTimeoutMs: number;
  /** Waits before the n-th retry (from 1); jittered, so that those who collided do not collide again. */
  readonly backOff: (attempt: number) => Promise<void>;
  /** Told of a tenant of which something has changed, behind the commit; nothing waits for it. */
  readonly onCommitted?: (tenantId: string) => void;
  /** Where reads that may be done on a replica are tried first; they are done on the primary unless given. */
  readonly replica?: ReplicaReads | undefined;
}

/** Does what the call is for and gives the bytes of its response. */
type Work = () => Promise<Uint8Array>;

/** Failures by which other calls were in the way: they pass by themselves. */
const CONTENDED: ReadonlySet<DatabaseFailure> = new Set(["RETRY", "LOCK_TIMEOUT"]);
const MAX_RETRIES = 3;
const RETRY_AFTER_SECONDS = 1;

/**
 * Runs each call in one transaction, in which the claim of its idempotency key, everything it does, its audit rows and
 * its stored result commit together or not at all.
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
   * Does the work under an idempotency key. The claim is sent ahead and not waited for: where the key is taken, the
   * transaction is aborted before the work's own statements, so the work may start at once and what it makes of its
   * aborted statements is thrown away. Work that waits for no answer has its response in the claim, and is committed in one
   * round trip.
   *
   * `work` uses `call.transaction`, gives the bytes to store, and may run more than once: after a serialization failure
   * or a deadlock (three times at most), and once after a lost connection, where the key decides whether the first run
   * had been committed. Rejects with what the work threw, or with SERVICE_UNAVAILABLE.
   */
  async execute(claim: IdempotencyClaim, call: Call, principal: Principal, work: Work): Promise<Outcome> {
    const outcome = await this.#repeat((isRerun) => this.#attempt(claim, call, principal, work, isRerun));
    const isDone = outcome.kind === "EXECUTED" || (outcome.kind === "REPLAY" && outcome.isOwn);
    if (isDone && call.effects.length > 0) this.options.onCommitted?.(claim.tenantId);
    return outcome;
  }

  /**
   * Runs a read, which has no key: it is run again after the same failures, since it leaves nothing that could double. One that
   * is `isReplicable` is done on the replica where there is one that has come far enough.
   */
  async read<T>(call: Call, principal: Principal, work: () => Promise<T>, isReplicable = false): Promise<T> {
    const { tenantId } = principal;
    const read = async (transaction: PipelinedTransaction) => {
      bind(call, transaction);
      return work();
    };
    const start = { scope: { tenantId }, limits: this.options, trace: call.trace };
    const done = isReplicable ? await this.options.replica?.attempt(call.operation ?? "", start, read) : undefined;
    return done === undefined ? this.#repeat(() => this.#run(call, tenantId, read)) : done.result;
  }

  #attempt(claim: IdempotencyClaim, call: Call, principal: Principal, work: Work, isRerun: boolean): Promise<Outcome> {
    let claimFailure: Promise<unknown> = Promise.resolve(undefined);
    const execute = async (transaction: PipelinedTransaction): Promise<Outcome> => {
      const stored = new LateResponse();
      claimFailure = failureOf(transaction.rows(claimKey(claim, stored)));
      transaction.send(this.#patience);
      bind(call, transaction);
      const response = await work();
      if (!stored.give(response)) transaction.send(storeResult(claim, response));
      for (const row of appendAudit(call, principal)) transaction.send(row);
      return { kind: "EXECUTED" };
    };
    return this.#run(call, claim.tenantId, execute, async (error) =>
      explainClaim(claim, await claimFailure, error, isRerun),
    );
  }

  /** Its connection is the one thing here that can be missing before anything was sent. */
  #run<T>(
    { trace }: Call,
    tenantId: string,
    work: TransactionWork<T>,
    instead?: (error: unknown) => Promise<TransactionWork<T>>,
  ): Promise<T> {
    const { database } = this;
    const source: TransactionSource = {
      acquire: () => this.#acquire(trace),
      get namedStatements() {
        return database.namedStatements;
      },
      unnameStatements: () => database.unnameStatements(),
    };
    return runTransaction(source, { scope: { tenantId }, limits: this.options, trace }, work, instead);
  }

  async #acquire(trace: CallTrace | undefined): ReturnType<Database["acquire"]> {
    const end = trace?.begin("connection");
    try {
      const client = await this.database.acquire();
      end?.();
      return client;
    } catch (error) {
      end?.(error);
      throw classifyFailure(error) === "FULL"
        ? databaseFull(RETRY_AFTER_SECONDS, error)
        : serviceUnavailable(RETRY_AFTER_SECONDS, error);
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
          throw meaningOf(error, failure);
        }
      }
    }
  }
}

/** What a failure that is not to be tried again means to the caller. */
function meaningOf(error: unknown, failure: DatabaseFailure): unknown {
  if (CONTENDED.has(failure)) return resourceBusy(RETRY_AFTER_SECONDS, error);
  if (failure === "FULL") return databaseFull(RETRY_AFTER_SECONDS, error);
  if (isAway(failure)) return serviceUnavailable(RETRY_AFTER_SECONDS, error);
  return uniqueConflict(error) ?? error;
}

/** Gives the call its transaction, with nothing done yet. */
function bind(call: Call, transaction: Transaction): void {
  call.transaction = transaction;
  call.effects.length = 0;
}

/**
 * What to do in place of work that failed with `error`: where its claim of the key did, what became of the key says what the
 * failure means. Rejects where the claim is not to blame.
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
  if (failure !== "UNIQUE_VIOLATION") throw claimFailure;
  return (transaction) => readOutcome(transaction, claim, isRerun);
}

/** In a new transaction, because the snapshot of a statement that waited cannot see what it waited for. */
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
