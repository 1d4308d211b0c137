import pg, { type ClientBase, type Connection, DatabaseError, Query, type QueryResult, Result } from "pg";

/** One statement of a flight. */
export interface FlightStatement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** What to keep it prepared as, for as long as the connection lives; undefined to prepare it for this once. */
  readonly name: string | undefined;
}

/** A statement on its way. `result` and `unreadable` are what has come of its answer so far. */
interface Passenger extends FlightStatement {
  readonly values: (string | Buffer | null)[];
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
 * Statements of one transaction that travel together, behind one synchronisation (PostgreSQL's manual, "Pipelining" under
 * the message flow of its protocol). pg's own pipeline synchronises behind each statement: there the server sends off
 * the answer by itself, which wakes both sides. To pg's client a flight is one query.
 *
 * Behind a statement that failed the server passes the rest over, COMMIT too; so the rest fails as it would in an aborted
 * transaction, with 25P02, and the transaction has to be rolled back.
 */
export class Flight extends Query {
  /** Those of the statement whose turn it is: by them, pg's client remembers what is prepared. */
  declare name: string | undefined;
  declare text: string;
  readonly #client: ClientBase;
  readonly #passengers: Passenger[] = [];
  #turn = 0;

  constructor(client: ClientBase) {
    super("");
    this.#client = client;
  }

  /** Adds a statement to a flight that is not sent yet. Rejects with what the statement or the connection failed with. */
  add({ text, values, name }: FlightStatement): Promise<QueryResult> {
    return new Promise((resolve, reject) => {
      const result = new (Result as unknown as ResultConstructor)(undefined, this.#client);
      this.#passengers.push({
        text,
        values: values.map((value) => prepareValue(value)),
        name,
        resolve,
        reject,
        result,
      });
    });
  }

  /** Called by pg's client to send the flight. */
  override submit = (connection: Connection): void => {
    connection.stream.cork();
    for (const passenger of this.#passengers) sendPassenger(connection as FullConnection, passenger);
    connection.sync();
    connection.stream.uncork();
    this.#take(0);
  };

  handleRowDescription({ fields }: { readonly fields: unknown }): void {
    this.#current?.result.addFields(fields);
  }

  handleDataRow({ fields }: { readonly fields: unknown }): void {
    const passenger = this.#current;
    if (passenger === undefined) return;
    try {
      passenger.result.rows.push(passenger.result.parseRow(fields));
    } catch (error) {
      passenger.unreadable = error;
    }
  }

  handleCommandComplete(message: unknown): void {
    this.#current?.result.addCommandComplete(message);
    this.handleEmptyQuery();
  }

  /** The end of a statement whose text is empty, and of any other. */
  handleEmptyQuery(): void {
    const passenger = this.#current;
    if (passenger?.unreadable !== undefined) passenger.reject(passenger.unreadable);
    else passenger?.resolve(passenger.result);
    this.#take(this.#turn + 1);
  }

  handleReadyForQuery(): void {}

  handleError(error: unknown, { submittedNamedStatements }: FullConnection): void {
    const [current, ...rest] = this.#passengers.slice(this.#turn);
    current?.reject(error);
    for (const { name, reject } of rest) {
      reject(error instanceof DatabaseError ? abortedTransaction() : error);
      if (name !== undefined) delete submittedNamedStatements[name];
    }
  }

  get #current(): Passenger | undefined {
    return this.#passengers[this.#turn];
  }

  #take(turn: number): void {
    this.#turn = turn;
    this.name = this.#current?.name;
    this.text = this.#current?.text ?? "";
  }
}

function sendPassenger(connection: FullConnection, { text, values, name }: Passenger): void {
  const { parsedStatements, submittedNamedStatements } = connection;
  const known = name === undefined ? undefined : (parsedStatements[name] ?? submittedNamedStatements[name]);
  if (known === undefined) connection.parse({ text, name: name ?? "", types: [] }, true);
  if (name !== undefined && known === undefined) submittedNamedStatements[name] = text;
  connection.bind({ statement: name ?? "", values }, true);
  connection.describe({ type: "P", name: "" }, true);
  connection.execute({}, true);
}

/** What the server answers to a statement in an aborted transaction. */
function abortedTransaction(): DatabaseError {
  const error = new DatabaseError("current transaction is aborted", 0, "error");
  error.code = "25P02";
  return error;
}
