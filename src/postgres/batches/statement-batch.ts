import pg, { type ClientBase, type Connection, DatabaseError, Query, Result } from "pg";
import { type EncodedParameter, MessageWriter } from "./message-writer.js";

/** One statement of a batch. */
export interface BatchedStatement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** The name of the prepared statement, which lives as long as the connection; undefined for an unnamed statement. */
  readonly name: string | undefined;
  /**
   * False if the result of an unnamed statement has no columns. The batch then does not ask the server for the columns.
   * For a named statement, the batch ignores this property and asks once for each connection.
   */
  readonly hasColumns?: false;
}

/** The answer to a statement. */
export interface StatementAnswer {
  readonly rows: readonly object[];
  /** The tag of the command, such as `INSERT 0 1`; empty for an empty statement. */
  readonly tag: string;
}

/** Receives the outcome of a statement. Exactly one of the functions is called, once. Neither may throw. */
export interface StatementOutcome {
  answered(answer: StatementAnswer): void;
  /** Called with the error of the statement, of its values or of the connection. */
  failed(error: unknown): void;
}

/** A statement with the part of its answer received so far. `unreadable` is the error of a row that cannot be read. */
interface PendingStatement {
  readonly statement: BatchedStatement;
  readonly outcome: StatementOutcome;
  /** The encoded values; empty until the batch is sent. */
  parameters: EncodedParameter[];
  /** Whether the batch asks the server for the columns of the statement's result. */
  isDescribed: boolean;
  /** Reads the rows; undefined until the columns are known, and for a result without columns. */
  reader: RowReader | undefined;
  readonly rows: object[];
  unreadable?: unknown;
}

/**
 * The members of pg's class `Result` that read rows. pg's type declarations lack them, so the version of pg is pinned.
 */
interface RowReader {
  addFields(fields: unknown): void;
  parseRow(fields: unknown): object;
}
type RowReaderConstructor = new (rowMode: undefined, types: Pick<ClientBase, "getTypeParser">) => RowReader;
type StatementTexts = Record<string, string | undefined>;
type FullConnection = Connection & { parsedStatements: StatementTexts; submittedNamedStatements: StatementTexts };
const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): EncodedParameter } }).utils;

const writer = new MessageWriter();
/**
 * The row readers of each connection, by the name of the statement. A reader knows the columns of the result. It is
 * undefined for a result without columns. The columns cannot change: PostgreSQL rejects a prepared statement whose
 * columns have changed.
 */
const knownColumns = new WeakMap<Connection, Map<string, RowReader | undefined>>();

/**
 * Statements of one transaction that are sent together with one Sync message at the end. Source: PostgreSQL's manual,
 * "Pipelining" in the chapter on the message flow.
 *
 * pg's own pipeline mode sends a Sync after each statement, and at each Sync the server sends its output and wakes the
 * client. A batch is a single query for pg's client, so that it has only one Sync.
 *
 * If a statement fails, the server skips all later statements, including COMMIT. If a value of a statement cannot be
 * encoded, this statement fails, and only the statements before it are sent. In both cases, all later statements fail
 * with 25P02, as in an aborted transaction. The transaction must then be rolled back.
 */
export class StatementBatch extends Query {
  /**
   * Name and text of the statement whose result is being received. pg's client reads both to record which statements
   * are prepared.
   */
  declare name: string | undefined;
  declare text: string;
  readonly #client: ClientBase;
  #statements: PendingStatement[] = [];
  /** The index of the statement whose result is being received. */
  #position = 0;
  #columns = new Map<string, RowReader | undefined>();

  constructor(client: ClientBase) {
    super("");
    this.#client = client;
  }

  /**
   * Adds a statement to a batch that is not sent yet. The values are read only when the batch is sent. Until then, an
   * object with a method `toPostgres` can still change its value.
   */
  add(statement: BatchedStatement, outcome: StatementOutcome): void {
    this.#statements.push({ statement, outcome, parameters: [], isDescribed: false, reader: undefined, rows: [] });
  }

  /** Called by pg's client to send the batch. */
  override submit = (connection: Connection): void => {
    this.#columns = columnsOf(connection);
    this.#statements = encoded(this.#statements);
    for (const pending of this.#statements) writeStatement(connection as FullConnection, pending, this.#columns);
    writer.sync();
    const messages = writer.take();
    if (connection.stream.writable) connection.stream.write(messages);
    this.#moveTo(0);
  };

  handleRowDescription({ fields }: { readonly fields: unknown }): void {
    const reader = new (Result as unknown as RowReaderConstructor)(undefined, this.#client);
    reader.addFields(fields);
    if (this.#current !== undefined) this.#current.reader = reader;
  }

  handleDataRow({ fields }: { readonly fields: unknown }): void {
    const pending = this.#current;
    if (pending?.reader === undefined) return;
    try {
      pending.rows.push(pending.reader.parseRow(fields));
    } catch (error) {
      pending.unreadable = error;
    }
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#complete(text);
  }

  /** Called by pg after an empty statement, in place of {@link handleCommandComplete}. */
  handleEmptyQuery(): void {
    this.#complete("");
  }

  handleReadyForQuery(): void {}

  handleError(error: unknown, { submittedNamedStatements }: FullConnection): void {
    const [current, ...skipped] = this.#statements.slice(this.#position);
    current?.outcome.failed(error);
    for (const { statement, outcome } of skipped) {
      outcome.failed(error instanceof DatabaseError ? abortedTransaction() : error);
      if (statement.name !== undefined) delete submittedNamedStatements[statement.name];
    }
  }

  get #current(): PendingStatement | undefined {
    return this.#statements[this.#position];
  }

  #complete(tag: string): void {
    const pending = this.#current;
    if (pending === undefined) return;
    const { statement, isDescribed, reader, outcome, rows, unreadable } = pending;
    const { name } = statement;
    if (isDescribed && name !== undefined) this.#columns.set(name, reader);
    this.#moveTo(this.#position + 1);
    if (unreadable !== undefined) outcome.failed(unreadable);
    else outcome.answered({ rows, tag });
  }

  #moveTo(position: number): void {
    this.#position = position;
    const statement = this.#current?.statement;
    this.name = statement?.name;
    this.text = statement?.text ?? "";
  }
}

function columnsOf(connection: Connection): Map<string, RowReader | undefined> {
  let columns = knownColumns.get(connection);
  if (columns === undefined) knownColumns.set(connection, (columns = new Map()));
  return columns;
}

/**
 * Encodes the values of the statements and returns the statements. If a value of a statement cannot be encoded, returns
 * only the statements before this one. This statement then fails with the error, and the later statements with 25P02.
 */
function encoded(statements: PendingStatement[]): PendingStatement[] {
  for (const [index, pending] of statements.entries()) {
    try {
      pending.parameters = pending.statement.values.map((value) => prepareValue(value));
    } catch (error) {
      pending.outcome.failed(error);
      for (const { outcome } of statements.slice(index + 1)) outcome.failed(abortedTransaction());
      return statements.slice(0, index);
    }
  }
  return statements;
}

function writeStatement(
  { parsedStatements, submittedNamedStatements }: FullConnection,
  pending: PendingStatement,
  columns: ReadonlyMap<string, RowReader | undefined>,
): void {
  const { text, name, hasColumns } = pending.statement;
  const known = name === undefined ? undefined : (parsedStatements[name] ?? submittedNamedStatements[name]);
  if (known === undefined) writer.parse(name ?? "", text);
  if (name !== undefined && known === undefined) submittedNamedStatements[name] = text;
  writer.bind(name ?? "", pending.parameters);
  pending.isDescribed = name === undefined ? hasColumns === undefined : !columns.has(name);
  if (pending.isDescribed) writer.describe();
  else if (name !== undefined) pending.reader = columns.get(name);
  writer.execute();
}

/** Returns the error that the server raises for a statement in an aborted transaction. */
function abortedTransaction(): DatabaseError {
  const error = new DatabaseError("current transaction is aborted", 0, "error");
  error.code = "25P02";
  return error;
}
