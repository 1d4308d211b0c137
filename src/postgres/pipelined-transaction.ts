import { createHash } from "node:crypto";
import type { PoolClient, QueryResult } from "pg";
import type { CallTrace, RequiredStatement, Statement, Transaction } from "../call.js";
import { isLowerCaseUuid } from "../uuid.js";
import { classifyFailure } from "./sql-errors.js";
import { type BatchedStatement, StatementBatch } from "./statement-batch.js";

/** Options of a transaction. */
export interface TransactionStart {
  readonly scope: TransactionScope;
  readonly limits: TransactionLimits;
  /** Whether statements are prepared under a name. Some connection poolers do not support it. */
  readonly namedStatements: boolean;
  /** Whether plans are generic, that is, made without the values of the statement. */
  readonly plansOnce: boolean;
  /** The trace of the call that the transaction belongs to, if any. */
  readonly trace?: CallTrace | undefined;
}

/**
 * The rows that row-level security shows to a transaction. `tenantId`: the rows of one tenant. `setting`: for
 * background work over all tenants, the rows that policies allow for this `cupo.*` setting.
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

const PLAIN_VALUE = /^[\w ]+$/;
const MAX_NAMED_STATEMENTS = 1_000;
const statementNames = new Map<string, string>();

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
  readonly #sent: Promise<unknown>[] = [];
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
   * Sends COMMIT after all other statements and waits for all results. Rejects if a statement failed, and if the server
   * answers COMMIT with the tag ROLLBACK, as it does for an aborted transaction.
   */
  async commit(): Promise<void> {
    const committed = this.#add({ text: "COMMIT", values: [], name: undefined });
    this.#isEnding = true;
    await Promise.all([...this.#sent, committed]);
    const { command } = await committed;
    if (command !== "COMMIT") throw this.#failure ?? new Error(`COMMIT was answered with ${command}`);
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

  #run(statement: Statement, explain?: BatchedStatement["explain"]): Promise<QueryResult> {
    const { sql, bindings } = statement.toSQL().toNative();
    const name = this.#start.namedStatements ? statementName(sql) : undefined;
    return this.#add({ text: sql, values: bindings, name, explain });
  }

  #add(statement: BatchedStatement): Promise<QueryResult> {
    if (this.#isEnding)
      return this.#track(Promise.reject(new Error("a statement was sent after the end of its transaction")));
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

/** Sets everything in one statement, which takes a third of the time of five. */
function settingsOf(start: TransactionStart): BatchedStatement {
  const { statementTimeoutMs, lockTimeoutMs, idleTimeoutMs } = start.limits;
  const text = `SELECT set_config('${nameOf(start.scope)}', $1, true),
  set_config('plan_cache_mode', 'force_generic_plan', true),
  set_config('statement_timeout', '${statementTimeoutMs}', true), set_config('lock_timeout', '${lockTimeoutMs}', true),
  set_config('idle_in_transaction_session_timeout', '${idleTimeoutMs}', true)`;
  return { ...constantStatement(text, start), values: [valueOf(start.scope)] };
}

function constantStatement(text: string, { namedStatements }: TransactionStart): BatchedStatement {
  return { text, values: [], name: namedStatements ? statementName(text) : undefined };
}

function nameOf(scope: TransactionScope): string {
  return "tenantId" in scope ? "cupo.tenant_id" : scope.setting;
}

/** Returns the value of the scope. Its characters are checked, because one form of the statement is a literal. */
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
 * Names the first 1,000 different texts. The server keeps named statements as long as the connection lives, so later
 * texts get no name.
 */
function statementName(sql: string): string | undefined {
  const known = statementNames.get(sql);
  if (known !== undefined || statementNames.size >= MAX_NAMED_STATEMENTS) return known;
  const name = `cupo_${createHash("sha256").update(sql).digest("base64url").slice(0, 22)}`;
  statementNames.set(sql, name);
  return name;
}
