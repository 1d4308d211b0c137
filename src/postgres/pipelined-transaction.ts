import { createHash } from "node:crypto";
import type { PoolClient, QueryResult } from "pg";
import type { CallTrace, RequiredStatement, Statement, Transaction } from "../call.js";
import { isLowerCaseUuid } from "../uuid.js";
import { classifyFailure } from "./sql-errors.js";
import { type BatchedStatement, StatementBatch } from "./statement-batch.js";

/** How a transaction begins. */
export interface TransactionStart {
  readonly scope: TransactionScope;
  readonly limits: TransactionLimits;
  /** Whether statements are kept prepared under a name, which some connection poolers cannot carry. */
  readonly namedStatements: boolean;
  /** The trace of the call that it is for, where there is one. */
  readonly trace?: CallTrace | undefined;
}

/**
 * What row-level security shows a transaction: the rows of a tenant or, for background work over all tenants, what a
 * setting of the project's own opens of a table.
 */
export type TransactionScope =
  | { readonly tenantId: string }
  | { readonly setting: `cupo.${string}`; readonly value: string };

/** Time limits that every transaction sets for itself, in milliseconds. */
export interface TransactionLimits {
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

const PLAIN_VALUE = /^[\w ]+$/;
const MAX_NAMED_STATEMENTS = 1_000;
const statementNames = new Map<string, string>();

/**
 * A transaction whose statements are sent as soon as they are asked for, those of one turn of the event loop as one
 * {@link StatementBatch}. BEGIN and the settings travel with the first statement, COMMIT with the last, so a call takes
 * one round trip, and one more for each answer that it waits for before it goes on.
 *
 * The scope is set with SET LOCAL as a literal, after a check of its characters: it is the form that distributed PostgreSQL
 * hands on to its workers, each by itself, and it cannot outlive the transaction on a pooled connection. Once the end is asked
 * for, further statements are refused: over the same connection they would fall into somebody else's transaction.
 */
export class PipelinedTransaction implements Transaction {
  readonly #client: PoolClient;
  readonly #start: TransactionStart;
  readonly #sent: Promise<unknown>[] = [];
  /** What begins the transaction, until it is sent. */
  #begin: readonly BatchedStatement[];
  /** What is sent at the end of this turn of the event loop. */
  #batch: StatementBatch | undefined;
  #failure: unknown;
  #isEnding = false;
  #isCommitted = false;

  constructor(client: PoolClient, start: TransactionStart) {
    this.#client = client;
    this.#start = start;
    this.#begin = beginningOf(start);
  }

  /** Throws for a transaction over all tenants. */
  get tenantId(): string {
    const { scope } = this.#start;
    if ("tenantId" in scope) return scope.tenantId;
    throw new Error("the transaction is no tenant's");
  }

  /** The first failure of a statement; later ones only say that the transaction is aborted. */
  get failure(): unknown {
    return this.#failure;
  }

  get isCommitted(): boolean {
    return this.#isCommitted;
  }

  async rows<Row extends object>(statement: Statement): Promise<Row[]> {
    const result = await this.#run(statement);
    return result.rows as Row[];
  }

  send(statement: Statement): void {
    this.#sent.push(this.#run(statement));
  }

  require({ required }: RequiredStatement, refusal: () => unknown): void {
    const explain = (error: unknown) => (classifyFailure(error) === "NO_ROW" ? refusal() : undefined);
    this.#sent.push(this.#run(required, explain));
  }

  /**
   * Sends COMMIT behind everything else and waits for all of it. Rejects where a statement failed, and where the server
   * answers COMMIT with the tag ROLLBACK, as it does for a transaction that was aborted.
   */
  async commit(): Promise<void> {
    const committed = this.#add({ text: "COMMIT", values: [], name: undefined });
    this.#isEnding = true;
    await Promise.all([...this.#sent, committed]);
    const { command } = await committed;
    if (command !== "COMMIT") throw this.#failure ?? new Error(`COMMIT was answered with ${command}`);
    this.#isCommitted = true;
  }

  /** Ends the transaction with nothing done, once all that was asked for is sent. */
  async rollback(): Promise<void> {
    this.#isEnding = true;
    this.#sendBatch();
    await this.#client.query("ROLLBACK");
  }

  /** A new transaction in place of this one, which is rolled back on the same way to the server. */
  restart(): PipelinedTransaction {
    this.#isEnding = true;
    this.#sendBatch();
    const next = new PipelinedTransaction(this.#client, this.#start);
    next.#begin = [constantStatement("ROLLBACK", this.#start), ...next.#begin];
    return next;
  }

  #run(statement: Statement, explain?: BatchedStatement["explain"]): Promise<QueryResult> {
    const { sql, bindings } = statement.toSQL().toNative();
    const name = this.#start.namedStatements ? statementName(sql) : undefined;
    return this.#add({ text: sql, values: bindings, name, explain });
  }

  #add(statement: BatchedStatement): Promise<QueryResult> {
    if (this.#isEnding) return this.#track(Promise.reject(new Error("a statement behind the end of its transaction")));
    this.#batch ??= this.#openBatch();
    const sent = this.#track(this.#batch.add(statement));
    const end = this.#start.trace?.beginStatement(statement.text);
    if (end !== undefined) sent.then(() => end(), end);
    return sent;
  }

  #openBatch(): StatementBatch {
    const batch = new StatementBatch(this.#client);
    for (const statement of this.#begin) void this.#track(batch.add(statement));
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

  #track<T>(sent: Promise<T>): Promise<T> {
    sent.catch((error: unknown) => {
      this.#failure ??= error;
    });
    return sent;
  }
}

function beginningOf(start: TransactionStart): BatchedStatement[] {
  const { statementTimeoutMs, lockTimeoutMs, idleTimeoutMs } = start.limits;
  return [
    constantStatement("BEGIN", start),
    { text: scopeText(start.scope), values: [], name: undefined },
    constantStatement(`SET LOCAL statement_timeout = ${statementTimeoutMs}`, start),
    constantStatement(`SET LOCAL lock_timeout = ${lockTimeoutMs}`, start),
    constantStatement(`SET LOCAL idle_in_transaction_session_timeout = ${idleTimeoutMs}`, start),
  ];
}

function constantStatement(text: string, { namedStatements }: TransactionStart): BatchedStatement {
  return { text, values: [], name: namedStatements ? statementName(text) : undefined };
}

function scopeText(scope: TransactionScope): string {
  if ("tenantId" in scope) {
    if (!isLowerCaseUuid(scope.tenantId)) throw new Error("the tenant of a transaction is a lower-case UUID");
    return `SET LOCAL cupo.tenant_id = '${scope.tenantId}'`;
  }
  if (!PLAIN_VALUE.test(scope.value)) throw new Error(`the value of ${scope.setting} is not plain`);
  return `SET LOCAL ${scope.setting} = '${scope.value}'`;
}

/** The server keeps named statements for as long as a connection lives, so a text beyond the first thousand gets no name. */
function statementName(sql: string): string | undefined {
  const known = statementNames.get(sql);
  if (known !== undefined || statementNames.size >= MAX_NAMED_STATEMENTS) return known;
  const name = `cupo_${createHash("sha256").update(sql).digest("base64url").slice(0, 22)}`;
  statementNames.set(sql, name);
  return name;
}
