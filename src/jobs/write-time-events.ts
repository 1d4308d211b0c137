import { randomUUID } from "node:crypto";
import { isOlderServing } from "../postgres/migration/older-serving.js";
import { runAsActiveTenant, type TransactionSource } from "../postgres/run-transaction.js";
import { advanceIdleTenants, beginTenants } from "../postgres/tables/time-events/due-tenants.js";
import { clinicTimeZone, localDateAt } from "../scheduling/local-clock.js";
import { writeSpan } from "./time-event-span.js";

const LIMITS = { statementTimeoutMs: 10_000, lockTimeoutMs: 2_000, idleTimeoutMs: 5_000 };
const HOUR_MS = 3_600_000;
/**
 * A run writes the events that became due at least `callsEndMs` ago ({@link TimeEventPorts}). It never writes an event
 * that became due longer ago than `callsEndMs` plus this many milliseconds.
 */
export const CAUGHT_UP_MS = 24 * HOUR_MS;
/** A call ends within this many milliseconds, because its statements and pauses are limited. */
const CALLS_END_MS = 30_000;
/** The last migration that events such as reminders need. Releases without it do not know these events. */
const KNOWN_SINCE = "0038-time-events-validated";

/** Dependencies of {@link writeTimeEvents}. */
export interface TimeEventPorts {
  readonly database: TransactionSource;
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
  /** Minutes from the start of an appointment to its no-show event, for a tenant that has not set its own number. */
  readonly noShowGraceMinutes: number;
  /**
   * Events are written at least this many milliseconds after they became due; default 30,000. By then, all calls that
   * began before the event became due have ended, so their bookings and moves are visible.
   */
  readonly callsEndMs?: number;
  /** Called after a commit that added events to the feed of the tenant. */
  readonly onCommitted?: ((tenantId: string) => void) | undefined;
}

/**
 * Writes the events of all active tenants that became due since the last run: reminders and no-shows of appointments,
 * and expired waitlist entries. Each event is written once. Returns the number of written events.
 *
 * The progress of a tenant is the time up to which its events are written. It is stored in the transaction that writes
 * the events.
 * - If a run is interrupted, the next run continues.
 * - Of two runs at the same time, the second one waits for the first and then finds nothing left.
 * - While an older release that does not know these events serves the database, nothing is written. Later runs then
 *   write the missed events of the last 24 h.
 * - If the events of a tenant cannot be written, the run continues and throws the first error at the end.
 * - An aborted signal stops the run after the current transaction.
 */
export async function writeTimeEvents(ports: TimeEventPorts, signal?: AbortSignal): Promise<number> {
  const { database, now, noShowGraceMinutes, callsEndMs = CALLS_END_MS } = ports;
  if (await isOlderServing(database, KNOWN_SINCE)) return 0;
  const untilMs = now() - callsEndMs;
  const [until, notBefore] = [new Date(untilMs), new Date(untilMs - CAUGHT_UP_MS)];
  const query = { until, notBefore, today: localDateAt(untilMs), timeZone: clinicTimeZone, noShowGraceMinutes };
  await beginTenants(database, until);
  const isAborted = () => signal?.aborted === true;
  const failures: unknown[] = [];
  let written = 0;
  let last: string | undefined;
  do {
    const batch = await advanceIdleTenants(database, last, query);
    for (const tenantId of batch.due) {
      if (isAborted()) break;
      await writeTenant(tenantId, query, ports, signal).then(
        (count) => (written += count),
        (error: unknown) => failures.push(error),
      );
    }
    last = batch.last;
  } while (last !== undefined && !isAborted());
  if (failures.length > 0) throw failures[0];
  return written;
}

/** Writes the due events of a tenant and returns their number. One transaction writes the events of at most an hour. */
async function writeTenant(
  tenantId: string,
  { until, notBefore }: { readonly until: Date; readonly notBefore: Date },
  { database, noShowGraceMinutes, onCommitted }: TimeEventPorts,
  signal: AbortSignal | undefined,
): Promise<number> {
  const limits = { until, notBefore, maxMs: HOUR_MS, noShowGraceMinutes, correlationId: randomUUID() };
  let total = 0;
  for (;;) {
    const span = await runAsActiveTenant(database, tenantId, LIMITS, (transaction) => writeSpan(transaction, limits));
    if (span === undefined) return total;
    total += span.written;
    if (span.written > 0) onCommitted?.(tenantId);
    if (span.isLast || signal?.aborted === true) return total;
  }
}
