import { createHash } from "node:crypto";
import type { PoolClient, QueryResult } from "pg";
import type { Statement, Transaction } from "../call.js";
import { isLowerCaseUuid } from "../uuid.js";
import { Flight, type FlightStatement } from "./flight.js";

/** Time limits that every transaction sets for itself, in milliseconds. */
export interface TransactionLimits {
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

const MAX_NAMED_STATEMENTS = 1_000;
const statementNames = new Map<string, string>();

/**
 * A transaction whose statements are sent as soon as they are asked for, those of one turn of the event loop as one
 * {@link Flight}. BEGIN, the limits and the tenant travel with the first statement, COMMIT with the last, so a call with
 * one dependency between its statements takes two round trips.
 *
 * The tenant is set with SET LOCAL as a literal, after checking that it is a UUID: it is the form that distributed
 * PostgreSQL hands on to its workers, and it cannot outlive the transaction on a pooled connection.
 */
export class PipelinedTransaction implements Transaction {
  readonly #client: PoolClient;
  readonly #limits: TransactionLimits;
  readonly #namedStatements: boolean;
  readonly #sent: Promise<unknown>[] = [];
  /** What begins the transaction, until it is sent. */
  #begin: string | undefined;
  #flight: Flight | undefined;
  #failure: unknown;

  constructor(
    client: PoolClient,
    readonly tenantId: string,
    limits: TransactionLimits,
    namedStatements: boolean,
  ) {
    if (!isLowerCaseUuid(tenantId)) throw new Error("the tenant of a transaction is a lower-case UUID");
    this.#client = client;
    this.#limits = limits;
    this.#namedStatements = namedStatements;
    this.#begin = beginText(tenantId, limits);
  }

  /** The first failure of a statement; later ones only say that the transaction is aborted. */
  get failure(): unknown {
    return this.#failure;
  }

  async rows<Row extends object>(statement: Statement): Promise<Row[]> {
    const result = await this.#run(statement);
    return result.rows as Row[];
  }

  send(statement: Statement): void {
    this.#sent.push(this.#run(statement));
  }

  /**
   * Sends COMMIT behind everything else and waits for all of it. Rejects where a statement failed, and where the server
   * answers COMMIT with the tag ROLLBACK, as it does for a transaction that was aborted.
   */
  async commit(): Promise<void> {
    const committed = this.#board({ text: "COMMIT", values: [], name: undefined });
    await Promise.all([...this.#sent, committed]);
    const { command } = await committed;
    if (command !== "COMMIT") throw this.#failure ?? new Error(`COMMIT was answered with ${command}`);
  }

  /** Ends the transaction with nothing done, once all that was asked for is sent. */
  async rollback(): Promise<void> {
    this.#depart();
    await this.#client.query("ROLLBACK");
  }

  /** A new transaction in place of this one, which is rolled back on the same way to the server. */
  restart(): PipelinedTransaction {
    this.#depart();
    const next = new PipelinedTransaction(this.#client, this.tenantId, this.#limits, this.#namedStatements);
    next.#begin = `ROLLBACK; ${next.#begin}`;
    return next;
  }

  #run(statement: Statement): Promise<QueryResult> {
    const { sql, bindings } = statement.toSQL().toNative();
    const name = this.#namedStatements ? statementName(sql) : undefined;
    return this.#board({ text: sql, values: bindings as unknown[], name });
  }

  #board(statement: FlightStatement): Promise<QueryResult> {
    if (this.#flight === undefined) {
      this.#flight = new Flight(this.#client);
      process.nextTick(() => this.#depart());
    }
    return this.#track(this.#flight.add(statement));
  }

  #depart(): void {
    const flight = this.#flight;
    if (flight === undefined) return;
    this.#flight = undefined;
    const { stream } = this.#client.connection;
    stream.cork();
    if (this.#begin !== undefined) void this.#track(this.#client.query(this.#begin));
    this.#begin = undefined;
    this.#client.query(flight);
    stream.uncork();
  }

  #track<T>(sent: Promise<T>): Promise<T> {
    sent.catch((error: unknown) => {
      this.#failure ??= error;
    });
    return sent;
  }
}

function beginText(tenantId: string, limits: TransactionLimits): string {
  return [
    "BEGIN",
    `SET LOCAL cupo.tenant_id = '${tenantId}'`,
    `SET LOCAL statement_timeout = ${limits.statementTimeoutMs}`,
    `SET LOCAL lock_timeout = ${limits.lockTimeoutMs}`,
    `SET LOCAL idle_in_transaction_session_timeout = ${limits.idleTimeoutMs}`,
  ].join("; ");
}

/** The server keeps named statements for as long as a connection lives, so a text beyond the first thousand gets no name. */
function statementName(sql: string): string | undefined {
  const known = statementNames.get(sql);
  if (known !== undefined || statementNames.size >= MAX_NAMED_STATEMENTS) return known;
  const name = `cupo_${createHash("sha256").update(sql).digest("base64url").slice(0, 22)}`;
  statementNames.set(sql, name);
  return name;
}
