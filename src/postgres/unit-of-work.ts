import type { PoolClient } from "pg";
import type { Call, Principal } from "../call.js";
import { serviceUnavailable } from "../errors.js";
import type { IdempotencyClaim, IdempotentWork, Outcome } from "../interceptors/idempotency.js";
import { appendAudit } from "./audit.js";
import type { Database } from "./database.js";
import { claimKey, findResult, type ResultRecord, storeResult } from "./idempotency-keys.js";
import { PipelinedTransaction, type TransactionLimits } from "./pipelined-transaction.js";
import { classifyFailure, type DatabaseFailure } from "./sql-errors.js";
import { uniqueConflict } from "./unique-conflict.js";

export interface UnitOfWorkOptions extends TransactionLimits {
  /** Waits before the n-th retry (from 1); jittered, so that those who collided do not collide again. */
  readonly backOff: (attempt: number) => Promise<void>;
}

/** Does what the call is for and gives the bytes of its response. */
type Work = () => Promise<Uint8Array>;

/** Failures that pass by themselves, so that the same request may succeed a little later. */
const PASSING: ReadonlySet<DatabaseFailure> = new Set(["RETRY", "LOST", "UNAVAILABLE", "LOCK_TIMEOUT"]);
const MAX_RETRIES = 3;
const RETRY_AFTER_SECONDS = 1;

/**
 * Runs each call in one transaction, in which the claim of its idempotency key, everything it does, its audit rows and
 * its stored result commit together or not at all.
 */
export class UnitOfWork implements IdempotentWork {
  constructor(
    private readonly database: Database,
    private readonly options: UnitOfWorkOptions,
  ) {}

  /**
   * Does the work under an idempotency key. The claim is sent ahead and not waited for: where the key is taken, the
   * transaction is aborted before the work's own statements, so the work may start at once and what it makes of its
   * aborted statements is thrown away.
   *
   * `work` uses `call.transaction`, gives the bytes to store, and may run more than once: after a serialization failure
   * or a deadlock (three times at most), and once after a lost connection, where the key decides whether the first run
   * had been committed. Rejects with what the work threw, or with SERVICE_UNAVAILABLE.
   */
  async execute(claim: IdempotencyClaim, call: Call, principal: Principal, work: Work): Promise<Outcome> {
    return this.#repeat((isRerun) => this.#attempt(claim, call, principal, work, isRerun));
  }

  /** Runs a read, which has no key: it is run again after the same failures, since it leaves nothing that could double. */
  async read<T>(call: Call, principal: Principal, work: () => Promise<T>): Promise<T> {
    return this.#repeat(async () => {
      const client = await this.#acquire();
      const transaction = this.#begin(client, principal.tenantId);
      call.transaction = transaction;
      call.effects.length = 0;
      try {
        const result = await work();
        await transaction.commit();
        client.release();
        return result;
      } catch (error) {
        await abandon(client, transaction);
        throw rootCause(error, transaction);
      }
    });
  }

  async #attempt(
    claim: IdempotencyClaim,
    call: Call,
    principal: Principal,
    work: Work,
    isRerun: boolean,
  ): Promise<Outcome> {
    const client = await this.#acquire();
    const transaction = this.#begin(client, claim.tenantId);
    const claimError = failureOf(transaction.rows(claimKey(claim)));
    call.transaction = transaction;
    call.effects.length = 0;
    try {
      await this.#commit(transaction, claim, call, principal, await work());
      client.release();
      return { kind: "EXECUTED" };
    } catch (error) {
      const taken = await claimError;
      if (taken !== undefined) return await this.#explainClaim(client, transaction, claim, taken, isRerun);
      await abandon(client, transaction);
      throw rootCause(error, transaction);
    }
  }

  async #commit(
    transaction: PipelinedTransaction,
    claim: IdempotencyClaim,
    call: Call,
    principal: Principal,
    response: Uint8Array,
  ): Promise<void> {
    transaction.send(storeResult(claim, response));
    for (const row of appendAudit(call, principal)) transaction.send(row);
    await transaction.commit();
  }

  async #explainClaim(
    client: PoolClient,
    transaction: PipelinedTransaction,
    claim: IdempotencyClaim,
    claimError: unknown,
    isRerun: boolean,
  ): Promise<Outcome> {
    const failure = classifyFailure(claimError);
    if (failure !== "UNIQUE_VIOLATION") {
      await abandon(client, transaction);
      if (failure === "LOCK_TIMEOUT") return { kind: "IN_PROGRESS" };
      throw claimError;
    }
    const stored = await this.#findResult(client, transaction, claim);
    if (stored === undefined || stored.response === null) return { kind: "IN_PROGRESS" };
    if (!stored.fingerprint.equals(claim.fingerprint)) return { kind: "REUSED" };
    return {
      kind: "REPLAY",
      response: stored.response,
      isOwn: isRerun && stored.correlation_id === claim.correlationId,
    };
  }

  /** A new transaction, because the snapshot of a statement that waited cannot see what it waited for. */
  async #findResult(
    client: PoolClient,
    aborted: PipelinedTransaction,
    claim: IdempotencyClaim,
  ): Promise<ResultRecord | undefined> {
    const transaction = aborted.restart();
    try {
      const [rows] = await Promise.all([transaction.rows<ResultRecord>(findResult(claim)), transaction.commit()]);
      client.release();
      return rows[0];
    } catch (error) {
      await abandon(client, transaction);
      throw rootCause(error, transaction);
    }
  }

  #begin(client: PoolClient, tenantId: string): PipelinedTransaction {
    return new PipelinedTransaction(client, tenantId, this.options, this.database.namedStatements);
  }

  async #acquire(): Promise<PoolClient> {
    try {
      return await this.database.acquire();
    } catch (error) {
      throw serviceUnavailable(RETRY_AFTER_SECONDS, error);
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
        if (failure === "LOST") this.database.condemnConnections();
        if (failure === "LOST" && !lost) {
          lost = true;
        } else if (failure === "RETRY" && retries < MAX_RETRIES) {
          retries += 1;
          await this.options.backOff(retries);
        } else {
          throw PASSING.has(failure)
            ? serviceUnavailable(RETRY_AFTER_SECONDS, error)
            : (uniqueConflict(error) ?? error);
        }
      }
    }
  }
}

/** Gives the connection back with its transaction ended, or ends the connection. */
async function abandon(client: PoolClient, transaction: PipelinedTransaction): Promise<void> {
  try {
    await transaction.rollback();
    client.release();
  } catch {
    client.release(true);
  }
}

function rootCause(error: unknown, transaction: PipelinedTransaction): unknown {
  return classifyFailure(error) === "ABORTED" ? (transaction.failure ?? error) : error;
}

function failureOf(sent: Promise<unknown>): Promise<unknown> {
  return sent.then(
    () => undefined,
    (error: unknown) => error,
  );
}
