import pg, { type ClientBase, type Connection, DatabaseError, Query, type QueryResult, Result } from "pg";

/** One statement of a batch. */
export interface BatchedStatement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** What to keep it prepared as, for as long as the connection lives; undefined to prepare it for this once. */
  readonly name: string | undefined;
  /** What to fail with in place of the server's error, where that is none of its own. */
  readonly explain?: ((error: unknown) => unknown) | undefined;
}

/** A statement with its promise. `result` and `unreadable` are what has come of its answer so far. */
interface PendingStatement extends BatchedStatement {
  /** As they are sent, once they are. */
  parameters: (string | Buffer | null)[];
  readonly resolve: (result: QueryResult) => void;
  readonly reject: (error: unknown) => void;
  readonly result: ResultBuilder;
  unreadable?: unknown;
}

/** What pg has and its type declarations leave out. The version of pg is pinned for it. */
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
 * Statements of one transaction that are sent together with one Sync message behind them (PostgreSQL's manual, "Pipelining"
 * under the message flow of its protocol). pg's own pipeline mode sends a Sync behind each statement, and at each the server
 * sends off the answer by itself, which wakes both sides. To pg's client the whole batch is one query.
 *
 * Behind a statement that failed the server skips the rest, COMMIT too; so the rest fails as it would in an aborted
 * transaction, with 25P02, and the transaction has to be rolled back.
 */
export class StatementBatch extends Query {
  /** Name and text of the statement that is being answered: by them, pg's client remembers what is prepared. */
  declare name: string | undefined;
  declare text: string;
  readonly #client: ClientBase;
  #statements: PendingStatement[] = [];
  /** The place of the statement that is being answered. */
  #position = 0;

  constructor(client: ClientBase) {
    super("");
    this.#client = client;
  }

  /**
   * Adds a statement to a batch that is not sent yet. Rejects with what the statement or the connection failed with. Values are
   * read when the batch is sent: one with a method `toPostgres` can be given until then.
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

  /** The end of a statement whose text is empty, and of any other. */
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

/** Says whether the values of a statement can be sent; rejects it where they cannot. */
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

/** What the server answers to a statement in an aborted transaction. */
function abortedTransaction(): DatabaseError {
  const error = new DatabaseError("current transaction is aborted", 0, "error");
  error.code = "25P02";
  return error;
}
