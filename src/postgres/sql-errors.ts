import { DatabaseError } from "pg";

/** The kinds of database failures that calls treat differently. */
export type DatabaseFailure =
  /** A serialization failure, a deadlock or a {@link RaceLost}. The same transaction may succeed if it runs again. */
  | "RETRY"
  /**
   * The connection broke, and whether a pending COMMIT took effect is unknown. Or the connection has a named statement
   * whose columns a migration has changed; nothing took effect.
   */
  | "LOST"
  /**
   * The database is unreachable, starting, stopping, or out of disk space or memory. Or the pool had no free connection
   * in time. Nothing took effect.
   */
  | "UNAVAILABLE"
  /** The database accepts no more connections. Nothing took effect. */
  | "FULL"
  /** The database is read-only, as a former primary is. Nothing took effect. */
  | "READ_ONLY"
  /** A named statement is missing or exists already: a pooler gave the transaction another server connection. */
  | "STATEMENTS_LOST"
  /** A lock was not granted within the lock timeout. */
  | "LOCK_TIMEOUT"
  /** A statement reached its timeout, or an operator cancelled it. Nothing took effect. */
  | "TIMEOUT"
  | "UNIQUE_VIOLATION"
  /**
   * A division by zero or a violated foreign key. A statement that requires a row fails with one of them if the row is
   * missing.
   */
  | "NO_ROW"
  /** The role lacks a right. */
  | "FORBIDDEN"
  /** The server rejected the login: the role is missing or may not log in here, or the password is wrong. */
  | "REFUSED_ROLE"
  | "NO_DATABASE"
  /** An earlier statement aborted the transaction. The cause is the failure of that statement. */
  | "ABORTED"
  | "OTHER";

/**
 * Thrown if another call took the resource that this call had chosen. If the transaction runs again, it may choose
 * another resource. `refusal` is the error that the call returns if its last attempt also loses the race.
 */
export class RaceLost extends Error {
  override readonly name = "RaceLost";

  constructor(readonly refusal: unknown) {
    super("another call was faster");
  }
}

/** The failure for each relevant SQLSTATE (PostgreSQL's manual, appendix A). */
const BY_SQLSTATE: Readonly<Record<string, DatabaseFailure>> = {
  "40001": "RETRY",
  "40P01": "RETRY",
  "55P03": "LOCK_TIMEOUT",
  "23505": "UNIQUE_VIOLATION",
  "22012": "NO_ROW",
  "23503": "NO_ROW",
  "42501": "FORBIDDEN",
  "28000": "REFUSED_ROLE",
  "28P01": "REFUSED_ROLE",
  "3D000": "NO_DATABASE",
  "26000": "STATEMENTS_LOST",
  "42P05": "STATEMENTS_LOST",
  "25006": "READ_ONLY",
  "25P02": "ABORTED",
  "25P03": "LOST",
  "25P04": "LOST",
  "53100": "UNAVAILABLE",
  "53200": "UNAVAILABLE",
  "53300": "FULL",
  "57014": "TIMEOUT",
  "57P01": "LOST",
  "57P02": "LOST",
  "57P03": "UNAVAILABLE",
  "57P05": "LOST",
};

/**
 * The function of PostgreSQL that rejects a named statement whose columns have changed ("cached plan must not change
 * result type"). Its SQLSTATE, 0A000, also has other meanings.
 */
const CHECK_OF_COLUMNS = "RevalidateCachedQuery";

/**
 * Codes of Node's socket errors, and error messages of pg and `database.ts`. `CONNECT_CODES` and `ACQUIRE_MESSAGE` mean
 * that no connection could be opened or acquired. `SOCKET_CODES` and `LOST_MESSAGE` mean that the connection was lost.
 */
const CONNECT_CODES = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);
const SOCKET_CODES = new Set(["ECONNRESET", "EPIPE", "ETIMEDOUT"]);
const LOST_MESSAGE =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|Query read timeout)/;
const ACQUIRE_MESSAGE = /^(timeout expired|timeout exceeded when trying to connect|the database is unreachable)/;

/**
 * Returns the kind of failure of an error. An SQLSTATE of class 08 (connection exception) means a lost connection. An
 * unknown error is OTHER, an internal error.
 */
export function classifyFailure(error: unknown): DatabaseFailure {
  if (!(error instanceof Error)) return "OTHER";
  if (error instanceof RaceLost) return "RETRY";
  if (error instanceof DatabaseError) {
    const { code, routine } = error;
    if (code === undefined) return "OTHER";
    if (routine === CHECK_OF_COLUMNS) return "LOST";
    return code.startsWith("08") ? "LOST" : (BY_SQLSTATE[code] ?? "OTHER");
  }
  const code = "code" in error ? String(error.code) : "";
  if (CONNECT_CODES.has(code) || ACQUIRE_MESSAGE.test(error.message)) return "UNAVAILABLE";
  if (SOCKET_CODES.has(code) || LOST_MESSAGE.test(error.message)) return "LOST";
  return "OTHER";
}

/** Failures that mean that the database was temporarily unavailable. */
const AWAY: ReadonlySet<DatabaseFailure> = new Set(["LOST", "UNAVAILABLE", "FULL", "READ_ONLY"]);

/** Returns whether the failure means that the database was temporarily unavailable. */
export function isAway(failure: DatabaseFailure): boolean {
  return AWAY.has(failure);
}

/** Returns whether all open connections must be discarded after this failure, although they seem to work. */
export function condemnsConnections(failure: DatabaseFailure): boolean {
  return failure === "LOST" || failure === "READ_ONLY";
}

/**
 * Matches the name of a constraint in a message. The quotation marks depend on the language of PostgreSQL's messages.
 */
const QUOTED = /["“„«]\s?([a-z0-9_]+)\s?["”“»]/;
/** The suffix that Citus appends to names of objects in a shard: the number of the shard. */
const SHARD = /_\d{6,}$/;

/**
 * Returns the name of the violated unique constraint, without the shard number that Citus appends. Citus forwards only
 * the error message of a worker, so the name is then read from the message. Returns undefined for other errors, and if
 * the name is in neither the error nor its message.
 */
export function violatedUniqueConstraint(error: unknown): string | undefined {
  if (!(error instanceof DatabaseError) || classifyFailure(error) !== "UNIQUE_VIOLATION") return undefined;
  return (error.constraint ?? QUOTED.exec(error.message)?.[1])?.replace(SHARD, "");
}
