import { DatabaseError } from "pg";

/** What a failed statement means for the call that sent it. */
export type DatabaseFailure =
  /** A serialization failure or a deadlock: the same transaction may succeed when it is run again. */
  | "RETRY"
  /** The connection broke; whether a COMMIT under way took effect is not known. */
  | "LOST"
  /** The database cannot be reached, is starting, stopping or full: nothing took effect. */
  | "UNAVAILABLE"
  /** A lock was not to be had in time. */
  | "LOCK_TIMEOUT"
  | "UNIQUE_VIOLATION"
  /** The role lacks a right. */
  | "FORBIDDEN"
  /** The transaction was aborted by an earlier failure, which is the one to look at. */
  | "ABORTED"
  | "OTHER";

/** SQLSTATEs of PostgreSQL (appendix A of its manual) that have a meaning here. */
const BY_SQLSTATE: Readonly<Record<string, DatabaseFailure>> = {
  "40001": "RETRY",
  "40P01": "RETRY",
  "55P03": "LOCK_TIMEOUT",
  "23505": "UNIQUE_VIOLATION",
  "42501": "FORBIDDEN",
  "25P02": "ABORTED",
  "25P03": "LOST",
  "53300": "UNAVAILABLE",
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
const ACQUIRE_MESSAGE = /^timeout exceeded when trying to connect/;

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

/** The name of the constraint that a statement violated, if that is why it failed. */
export function violatedConstraint(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.constraint : undefined;
}
