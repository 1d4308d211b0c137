import type { PoolClient } from "pg";
import type { RequiredStatement, Statement, Transaction } from "../call.js";
import { type BatchedStatement, type StatementAnswer, StatementBatch } from "./batches/statement-batch.js";
import { classifyFailure } from "./sql-errors.js";
import {
  beginningOf,
  constantStatement,
  isPlainQuery,
  statementName,
  type TransactionStart,
} from "./transaction-start.js";

type Answered = (answer: StatementAnswer) => void;
type Failed = (error: unknown) => void;

const COMMIT: BatchedStatement = { text: "COMMIT", values: [], name: undefined, hasColumns: false };

/**
 * A transaction that sends its statements without waiting for the results of earlier ones. Statements of one turn of
 * the event loop are sent as one {@link StatementBatch}. BEGIN and the settings are sent with the first statement,
 * COMMIT with the last. So a call takes one round trip, plus one for each result that it awaits before it continues.
 *
 * The settings are the visible rows (row-level security), the time limits and generic query plans. They end with the
 * transaction. On Citus, each setting has its own SET LOCAL, because Citus forwards only that form to its workers.
 *
 * After `commit`, `rollback` or `restart`, further statements fail: they would run in the connection's next
 * transaction.
 */
export class PipelinedTransaction implements Transaction {
  readonly #client: PoolClient;
  readonly #start: TransactionStart;
  /** The statements that begin the next transaction. Empty while a transaction is open. */
  #begin: readonly BatchedStatement[];
  /** The batch that is sent at the end of this turn of the event loop. */
  #batch: StatementBatch | undefined;
  #failure: unknown;
  /**
   * For {@link TransactionStart.endsEarly}: whether every statement so far is a plain query ({@link isPlainQuery}). If
   * so, COMMIT is sent with each batch, and the next batch begins a new transaction.
   */
  #isPlain = true;
  /** Defined if COMMIT was sent with the last batch. Resolves when this COMMIT has succeeded or failed. */
  #ended: Promise<void> | undefined;
  #isEnding = false;
  #isCommitted = false;

  constructor(client: PoolClient, start: TransactionStart) {
    this.#client = client;
    this.#start = start;
    this.#begin = beginningOf(start);
  }

  /** The id of the transaction's tenant. Throws if the transaction spans all tenants. */
  get tenantId(): string {
    const { scope } = this.#start;
    if ("tenantId" in scope) return scope.tenantId;
    throw new Error("the transaction spans all tenants and has no tenant id");
  }

  /**
   * The error of the first statement that failed; undefined if none failed. If {@link require} sent this statement and
   * the required row is missing, the error is the result of the `refusal` passed to `require`. Errors of later
   * statements are not kept: they usually only report that the transaction is aborted or the connection lost.
   */
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
   * Sends COMMIT after all other statements and waits for all results. Sends no COMMIT if the last batch ended with
   * one. Rejects with the first failure if a statement failed. Also rejects if the server answers COMMIT with the tag
   * ROLLBACK, as it does for an aborted transaction.
   */
  async commit(): Promise<void> {
    const ended = this.#ended ?? this.#sendCommit();
    this.#isEnding = true;
    await ended;
    if (this.#failure !== undefined) throw this.#failure;
    this.#isCommitted = true;
  }

  #sendCommit(): Promise<void> {
    return new Promise((resolve, reject) => {
      const answered = (answer: StatementAnswer) => {
        this.#requireCommit(answer);
        resolve();
      };
      this.#add(COMMIT, answered, () => reject(this.#failure));
    });
  }

  #requireCommit({ tag }: StatementAnswer): void {
    if (tag !== "COMMIT") this.#fail(new Error(`COMMIT was answered with ${tag}`), ignore);
  }

  /**
   * Sends all pending statements, then rolls the transaction back. Sends no ROLLBACK if a COMMIT with the last batch
   * has ended the transaction.
   */
  async rollback(): Promise<void> {
    this.#isEnding = true;
    this.#sendBatch();
    await this.#ended;
    if (this.#ended !== undefined && this.#failure === undefined) return;
    await this.#client.query("ROLLBACK");
  }

  /**
   * Returns a new transaction on the same connection. The ROLLBACK of this transaction is sent with the first
   * statements of the new one.
   */
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
    this.#isPlain &&= this.#start.endsEarly === true && isPlainQuery(sql);
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

  /** Stores the error if it is the first failure of the transaction. Passes every error to `failed`. */
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
    this.#ended = undefined;
    process.nextTick(() => this.#sendBatch());
    return batch;
  }

  #sendBatch(): void {
    const batch = this.#batch;
    if (batch === undefined) return;
    this.#batch = undefined;
    if (this.#isPlain && this.#start.endsEarly === true && !this.#isEnding) this.#endWith(batch);
    this.#client.query(batch);
  }

  #endWith(batch: StatementBatch): void {
    this.#begin = beginningOf(this.#start);
    const end = this.#start.trace?.beginStatement(COMMIT.text);
    this.#ended = new Promise((resolve) => {
      batch.add(COMMIT, {
        answered: (answer) => {
          end?.();
          this.#requireCommit(answer);
          resolve();
        },
        failed: (error) => {
          end?.(error);
          this.#fail(error, ignore);
          resolve();
        },
      });
    });
  }
}

function ignore(): void {}
