import pg, { type ClientBase, type Connection, DatabaseError, Query, type QueryResult, Result } from "pg";

/** One statement of a batch. */
export interface BatchedStatement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** The name of the prepared statement, which lives as long as the connection; undefined for an unnamed statement. */
  readonly name: string | undefined;
  /** Returns the error to reject with instead of the server's; undefined to keep the server's error. */
  readonly explain?: ((error: unknown) => unknown) | undefined;
}

/** A statement with its promise. `result` and `unreadable` hold the part of the result received so far. */
interface PendingStatement extends BatchedStatement {
  /** The encoded values; empty until the batch is sent. */
  parameters: (string | Buffer | null)[];
  readonly resolve: (result: QueryResult) => void;
  readonly reject: (error: unknown) => void;
  readonly result: ResultBuilder;
  unreadable?: unknown;
}

/** Members of pg that its type declarations lack. Therefore the version of pg is pinned. */
interface ResultBuilder extends QueryResult {
  addFields(fields: unknown): void;
  parseRow(fields: unknown): object;
  addCommandComplete(message: unknown): void;
}
type ResultConstructor = new (rowMode: undefined, types: Pick<ClientBase, "getTypeParser">) => ResultBuilder;
type StatementTexts = Record<string, string | undefined>;
type FullConnection = Connection & { parsedStatements: StatementTexts; submittedNamedStatements: StatementTexts };
const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): string | Buffer | null } }).utils;

/**
 * Statements of one transaction that are sent together with one Sync message at the end. Source: PostgreSQL's manual,
 * "Pipelining" in the chapter on the message flow.
 *
 * pg's own pipeline mode sends a Sync after each statement. At each Sync the server sends its output, which wakes both
 * sides. For pg's client the whole batch is one query.
 *
 * If a statement fails, the server skips the rest, including COMMIT. The rest then rejects with 25P02, as in an aborted
 * transaction, and the transaction must be rolled back.
 */
export class StatementBatch extends Query {
  /**
   * Name and text of the statement whose result is being received. pg's client reads them to remember what is prepared.
   */
  declare name: string | undefined;
  declare text: string;
  readonly #client: ClientBase;
  #statements: PendingStatement[] = [];
  /** The index of the statement whose result is being received. */
  #position = 0;

  constructor(client: ClientBase) {
    super("");
    this.#client = client;
  }

  /**
   * Adds a statement to a batch that is not sent yet. Rejects with the error of the statement or of the connection.
   * Values are read when the batch is sent, so a value with a method `toPostgres` may be set until then.
   */
  add(statement: BatchedStatement): Promise<QueryResult> {
    return new Promise((resolve, reject) => {
      const result = new (Result as unknown as ResultConstructor)(undefined, this.#client);
      const { text, values, name, explain } = statement;
      this.#statements.push({ text, values, name, explain, parameters: [], resolve, reject, result });
    });
  }

  /** Called by pg's client to send the batch. */
  override submit = (connection: Connection): void => {
    this.#statements = this.#statements.filter(readParameters);
    connection.stream.cork();
    for (const statement of this.#statements) writeStatement(connection as FullConnection, statement);
    connection.sync();
    connection.stream.uncork();
    this.#moveTo(0);
  };

  handleRowDescription({ fields }: { readonly fields: unknown }): void {
    this.#current?.result.addFields(fields);
  }

  handleDataRow({ fields }: { readonly fields: unknown }): void {
    const statement = this.#current;
    if (statement === undefined) return;
    try {
      statement.result.rows.push(statement.result.parseRow(fields));
    } catch (error) {
      statement.unreadable = error;
    }
  }

  handleCommandComplete(message: unknown): void {
    this.#current?.result.addCommandComplete(message);
    this.handleEmptyQuery();
  }

  /** Called by pg after an empty statement, and by {@link handleCommandComplete} after any other. */
  handleEmptyQuery(): void {
    const statement = this.#current;
    if (statement?.unreadable !== undefined) statement.reject(statement.unreadable);
    else statement?.resolve(statement.result);
    this.#moveTo(this.#position + 1);
  }

  handleReadyForQuery(): void {}

  handleError(error: unknown, { submittedNamedStatements }: FullConnection): void {
    const [current, ...skipped] = this.#statements.slice(this.#position);
    current?.reject(current.explain?.(error) ?? error);
    for (const { name, reject } of skipped) {
      reject(error instanceof DatabaseError ? abortedTransaction() : error);
      if (name !== undefined) delete submittedNamedStatements[name];
    }
  }

  get #current(): PendingStatement | undefined {
    return this.#statements[this.#position];
  }

  #moveTo(position: number): void {
    this.#position = position;
    this.name = this.#current?.name;
    this.text = this.#current?.text ?? "";
  }
}

/** Encodes the values of a statement. If that fails, rejects the statement and returns false. */
function readParameters(statement: PendingStatement): boolean {
  try {
    statement.parameters = statement.values.map((value) => prepareValue(value));
    return true;
  } catch (error) {
    statement.reject(error);
    return false;
  }
}

function writeStatement(connection: FullConnection, { text, parameters, name }: PendingStatement): void {
  const { parsedStatements, submittedNamedStatements } = connection;
  const known = name === undefined ? undefined : (parsedStatements[name] ?? submittedNamedStatements[name]);
  if (known === undefined) connection.parse({ text, name: name ?? "", types: [] }, true);
  if (name !== undefined && known === undefined) submittedNamedStatements[name] = text;
  connection.bind({ statement: name ?? "", values: parameters }, true);
  connection.describe({ type: "P", name: "" }, true);
  connection.execute({}, true);
}

/** Returns the error that the server raises for a statement in an aborted transaction. */
function abortedTransaction(): DatabaseError {
  const error = new DatabaseError("current transaction is aborted", 0, "error");
  error.code = "25P02";
  return error;
}
