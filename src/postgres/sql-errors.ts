import { DatabaseError } from "pg";

/** What a failed statement means for the call that sent it. */
export type DatabaseFailure =
  /** A serialization failure or a deadlock: the same transaction may succeed when it is run again. */
  | "RETRY"
  /** The connection broke; whether a COMMIT under way took effect is not known. */
  | "LOST"
  /** The database cannot be reached, is starting or stopping, or has no room on its disk or in memory: nothing took effect. */
  | "UNAVAILABLE"
  /** The database takes no more connections: nothing took effect. */
  | "FULL"
  /** The database takes no writes, as one that is not the primary any more: nothing took effect. */
  | "READ_ONLY"
  /** A named statement is not where it was prepared, or already there: a pooler gave the transaction another connection. */
  | "STATEMENTS_LOST"
  /** A lock was not to be had in time. */
  | "LOCK_TIMEOUT"
  | "UNIQUE_VIOLATION"
  /** A number was divided by zero, which statements do that require a row and find none. */
  | "NO_ROW"
  /** The role lacks a right. */
  | "FORBIDDEN"
  /** The server does not let the role in: there is none of that name, or the password is another. */
  | "REFUSED_ROLE"
  | "NO_DATABASE"
  /** The transaction was aborted by an earlier failure, which is the one to look at. */
  | "ABORTED"
  | "OTHER";

/** SQLSTATEs of PostgreSQL (appendix A of its manual) that have a meaning here. */
const BY_SQLSTATE: Readonly<Record<string, DatabaseFailure>> = {
  "40001": "RETRY",
  "40P01": "RETRY",
  "55P03": "LOCK_TIMEOUT",
  "23505": "UNIQUE_VIOLATION",
  "22012": "NO_ROW",
  "42501": "FORBIDDEN",
  "28000": "REFUSED_ROLE",
  "28P01": "REFUSED_ROLE",
  "3D000": "NO_DATABASE",
  "26000": "STATEMENTS_LOST",
  "42P05": "STATEMENTS_LOST",
  "25006": "READ_ONLY",
  "25P02": "ABORTED",
  "25P03": "LOST",
  "53100": "UNAVAILABLE",
  "53200": "UNAVAILABLE",
  "53300": "FULL",
  "57014": "UNAVAILABLE",
  "57P01": "LOST",
  "57P02": "LOST",
  "57P03": "UNAVAILABLE",
};

/** Codes of Node's socket errors, and the messages with which pg reports a connection it lost or could not make. */
const CONNECT_CODES = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);
const SOCKET_CODES = new Set(["ECONNRESET", "EPIPE", "ETIMEDOUT"]);
const LOST_MESSAGE =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|Query read timeout)/;
const ACQUIRE_MESSAGE = /^(timeout exceeded when trying to connect|the database is silent)/;

/**
 * Classifies what the driver rejected with; the one place that reads SQLSTATEs. Class 08 (connection exception) is a lost
 * connection. Whatever is not known is OTHER, an internal error.
 */
export function classifyFailure(error: unknown): DatabaseFailure {
  if (!(error instanceof Error)) return "OTHER";
  if (error instanceof DatabaseError) {
    const { code } = error;
    if (code === undefined) return "OTHER";
    return code.startsWith("08") ? "LOST" : (BY_SQLSTATE[code] ?? "OTHER");
  }
  const code = "code" in error ? String(error.code) : "";
  if (CONNECT_CODES.has(code) || ACQUIRE_MESSAGE.test(error.message)) return "UNAVAILABLE";
  if (SOCKET_CODES.has(code) || LOST_MESSAGE.test(error.message)) return "LOST";
  return "OTHER";
}

/** Failures by which the database was away. They pass by themselves. */
const AWAY: ReadonlySet<DatabaseFailure> = new Set(["LOST", "UNAVAILABLE", "FULL", "READ_ONLY"]);

/** Whether the database was away, or not to be had for what was asked, which passes by itself. */
export function isAway(failure: DatabaseFailure): boolean {
  return AWAY.has(failure);
}

/** Whether connections beside the one that failed are of no more use either, though they seem to be open. */
export function condemnsConnections(failure: DatabaseFailure): boolean {
  return failure === "LOST" || failure === "READ_ONLY";
}

/** The name of a constraint in a message, in the quotation marks of any language that PostgreSQL speaks. */
const QUOTED = /["“„«]\s?([a-z0-9_]+)\s?["”“»]/;
/** What distributed PostgreSQL puts behind the name of whatever belongs to a shard: the number of the shard. */
const SHARD = /_\d{6,}$/;

/**
 * The name of the unique constraint that a statement violated, as migrations have it, if that is why it failed. Distributed
 * PostgreSQL hands on the message of one of its workers, with the name of a shard's constraint in it, and no fields.
 */
export function violatedUniqueConstraint(error: unknown): string | undefined {
  if (!(error instanceof DatabaseError) || classifyFailure(error) !== "UNIQUE_VIOLATION") return undefined;
  return (error.constraint ?? QUOTED.exec(error.message)?.[1])?.replace(SHARD, "");
}
