import { busy, type CupoError, serviceUnavailable, unavailable } from "../errors.js";
import { classifyFailure, isAway } from "./sql-errors.js";

/** Retry-After of the 503 answers for a busy or unreachable database. */
const RETRY_AFTER_SECONDS = 1;

/**
 * Returns the 503 for a call that failed after its last retry: another call changed the same data, a statement timed
 * out, or the database was unavailable. Returns undefined for other errors. `statementTimeoutMs` is the statement
 * timeout that applied.
 *
 * If the connection was lost, the call may have been committed: a retry with the same idempotency key shows the result.
 * In all other cases, nothing was changed.
 */
export function unavailabilityOf(error: unknown, statementTimeoutMs: number): CupoError | undefined {
  const failure = classifyFailure(error);
  const cause = error;
  if (failure === "TIMEOUT") return timedOut(Math.ceil(statementTimeoutMs / 1_000), cause);
  if (failure === "RETRY" || failure === "LOCK_TIMEOUT") {
    return busy("Another request is changing the same data.", RETRY_AFTER_SECONDS, { cause });
  }
  return isAway(failure) ? noConnection(error) : undefined;
}

/** Returns the 503 for a call that got no database connection, or whose connection was lost. */
export function noConnection(cause: unknown): CupoError {
  return classifyFailure(cause) === "FULL"
    ? busy("The database accepts no more connections.", RETRY_AFTER_SECONDS, { cause })
    : serviceUnavailable(RETRY_AFTER_SECONDS, cause);
}

/**
 * Returns a 503 with the reason TIMEOUT. Retry-After is the statement timeout, because the same request may time out
 * again. Clients that repeat it sooner would keep a database connection busy for most of the time.
 */
function timedOut(limitSeconds: number, cause: unknown): CupoError {
  const message = `A statement reached the service's limit of ${limitSeconds} s, or an operator cancelled it.`;
  const advice = "Nothing was changed. A retry with the same Idempotency-Key is safe, but may end the same way.";
  const errors = [{ code: "TIMEOUT", field: "", message }] as const;
  return unavailable(`${message} ${advice}`, limitSeconds, { errors, cause });
}
