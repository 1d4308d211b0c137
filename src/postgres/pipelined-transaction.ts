import type { PoolClient } from "pg";
import type { RequiredStatement, Statement, Transaction } from "../call.js";
import { type BatchedStatement, type StatementAnswer, StatementBatch } from "./batches/statement-batch.js";
import { classifyFailure } from "./sql-errors.js";
import { beginningOf, constantStatement, statementName, type TransactionStart } from "./transaction-start.js";

type Answered = (answer: StatementAnswer) => void;
type Failed = (error: unknown) => void;

const COMMIT: BatchedStatement = { text: "COMMIT", values: [], name: undefined, hasColumns: false };

/**
 * A transaction that sends its statements without waiting for the results of earlier ones. Statements of one turn of
 * the event loop are sent as one {@link StatementBatch}. BEGIN and the settings are sent with the first statement,
 * COMMIT with the last. So a call takes one round trip, plus one for each result that it awaits before it continues.
 *
 * Scope, limits and the kind of plans are set for the transaction only, so they cannot outlive it on a pooled
 * connection. One statement sets them all. On Citus each is a SET LOCAL of its own, the only form that Citus forwards
 * to its workers. After `commit`, `rollback` or `restart`, further statements are rejected, because they would run in
 * the next transaction of the connection.
 */
export class PipelinedTransaction implements Transaction {
  readonly #client: PoolClient;
  readonly #start: TransactionStart;
  /** The statements that begin the transaction; empty once they are sent. */
  #begin: readonly BatchedStatement[];
  /** The batch that is sent at the end of this turn of the event loop. */
  #batch: StatementBatch | undefined;
  #failure: unknown;
  #isEnding = false;
  #isCommitted = false;

  constructor(client: PoolClient, start: TransactionStart) {
    this.#client = client;
    this.#start = start;
    this.#begin = beginningOf(start);
  }

  /** Throws if the transaction spans all tenants. */
  get tenantId(): string {
    const { scope } = this.#start;
    if ("tenantId" in scope) return scope.tenantId;
    throw new Error("the transaction spans all tenants and has no tenant id");
  }

  /** The first failure of a statement. Later failures only report that the transaction is aborted. */
  get failure(): unknown {
    return this.#failure;
  }

  get isCommitted(): boolean {
    return this.#isCommitted;
  }

  rows<Row extends object>(statement: Statement): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      this.#run(statement, ({ rows }) => resolve(rows as Row[]), reject);
    });
  }

  send(statement: Statement): void {
    this.#run(statement);
  }

  require({ required }: RequiredStatement, refusal: () => unknown): void {
    this.#run(required, ignore, (error) => {
      if (this.#failure === error && classifyFailure(error) === "NO_ROW") this.#failure = refusal();
    });
  }

  /**
   * Sends COMMIT after all other statements and waits for all results. Rejects with the first failure if a statement
   * failed, and if the server answers COMMIT with the tag ROLLBACK, as it does for an aborted transaction.
   */
  async commit(): Promise<void> {
    const committed = new Promise<StatementAnswer>((resolve, reject) => {
      this.#add(COMMIT, resolve, () => reject(this.#failure));
    });
    this.#isEnding = true;
    const { tag } = await committed;
    if (this.#failure !== undefined) throw this.#failure;
    if (tag !== "COMMIT") throw new Error(`COMMIT was answered with ${tag}`);
    this.#isCommitted = true;
  }

  /** Rolls the transaction back, after all pending statements are sent. */
  async rollback(): Promise<void> {
    this.#isEnding = true;
    this.#sendBatch();
    await this.#client.query("ROLLBACK");
  }

  /** Returns a new transaction on the same connection. The ROLLBACK of this one is sent with its first statements. */
  restart(): PipelinedTransaction {
    this.#isEnding = true;
    this.#sendBatch();
    const next = new PipelinedTransaction(this.#client, this.#start);
    next.#begin = [constantStatement("ROLLBACK", this.#start), ...next.#begin];
    return next;
  }

  #run(statement: Statement, answered?: Answered, failed?: Failed): void {
    const { sql, bindings } = statement.toSQL().toNative();
    const isNamed = this.#start.namedStatements && !sql.startsWith("SET LOCAL ");
    const name = isNamed ? statementName(sql) : undefined;
    this.#add({ text: sql, values: bindings, name }, answered, failed);
  }

  #add(statement: BatchedStatement, answered: Answered = ignore, failed: Failed = ignore): void {
    if (this.#isEnding) return this.#fail(new Error("a statement was sent after the end of its transaction"), failed);
    this.#batch ??= this.#openBatch();
    const end = this.#start.trace?.beginStatement(statement.text);
    this.#batch.add(statement, {
      answered(answer) {
        end?.();
        answered(answer);
      },
      failed: (error) => {
        end?.(error);
        this.#fail(error, failed);
      },
    });
  }

  /** Keeps the first failure, then reports it. */
  #fail(error: unknown, failed: Failed): void {
    this.#failure ??= error;
    failed(error);
  }

  #openBatch(): StatementBatch {
    const batch = new StatementBatch(this.#client);
    for (const statement of this.#begin) {
      batch.add(statement, { answered: ignore, failed: (error) => this.#fail(error, ignore) });
    }
    this.#begin = [];
    process.nextTick(() => this.#sendBatch());
    return batch;
  }

  #sendBatch(): void {
    const batch = this.#batch;
    if (batch === undefined) return;
    this.#batch = undefined;
    this.#client.query(batch);
  }
}

function ignore(): void {}
