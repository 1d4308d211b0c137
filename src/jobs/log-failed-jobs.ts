import type { Logger } from "pino";
import { classifyFailure, type DatabaseFailure } from "../postgres/sql-errors.js";
import { describe } from "../request-log.js";

const REASONS: Readonly<Partial<Record<DatabaseFailure, string>>> = {
  LOST: "the connection to the database broke",
  UNAVAILABLE: "the database cannot be reached, is starting or stopping, or is out of disk space or memory",
  FULL: "the database has no connection left",
  READ_ONLY: "the database is read-only",
  FORBIDDEN: "the database role lacks a privilege",
  REFUSED_ROLE: "the database rejects the role or its password, or pg_hba.conf does not allow the connection",
  NO_DATABASE: "the database does not exist",
  TIMEOUT: "a statement took too long or was cancelled",
  LOCK_TIMEOUT: "a lock was held for too long",
};

/**
 * Returns a function that logs why a job failed or the job queue stopped. The reason is part of the message, so that
 * the text format and the JSON format of the log both show it. The error's own message is omitted, because it can
 * contain data of rows.
 */
export function logFailedJobs(logger: Logger): (error: unknown) => void {
  return (error) => {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const code = cause instanceof Error && "code" in cause ? ` (${String(cause.code)})` : "";
    const reason = `${REASONS[classifyFailure(cause)] ?? "a job or the queue failed"}${code}`;
    logger.warn(
      { component: "job queue", cause: describe(cause) },
      `background jobs failed and will be repeated: ${reason}`,
    );
  };
}
