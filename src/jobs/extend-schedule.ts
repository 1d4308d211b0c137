import type { Logger } from "pino";
import type { Database } from "../postgres/database.js";
import type { ExtensionPayload } from "../postgres/job-queue.js";
import { runAsTenant } from "../postgres/run-transaction.js";
import { shareCalendar } from "../postgres/tables/schedule/calendars.js";
import { lockProgram } from "../postgres/tables/schedule/due-programs.js";
import { extendProgram } from "../services/schedule/materialize.js";

const LIMITS = { statementTimeoutMs: 30_000, lockTimeoutMs: 2_000, idleTimeoutMs: 15_000 };

/** What extending a schedule needs. */
export interface ExtensionPorts {
  readonly database: Pick<Database, "acquire" | "namedStatements">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Ends the work behind the dates that are being added. */
  readonly signal: AbortSignal;
  /** Told of the progress. */
  readonly logger: Pick<Logger, "info">;
}

/**
 * Extends the schedule of a program, which was made before, to the horizon: some dates in each transaction, so that changes
 * of the program wait for none of them long. What was added stays if it is cut off, and it goes on from there when it is
 * called again; of processes that extend a program at once, one finds the work done. Rejects where it is ended too early.
 */
export async function extendSchedule(
  { tenantId, programId }: ExtensionPayload,
  { database, now, signal, logger }: ExtensionPorts,
): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const isDone = await runAsTenant(database, tenantId, LIMITS, (transaction) => {
      shareCalendar(transaction);
      lockProgram(transaction, programId);
      return extendProgram(transaction, programId, now());
    });
    logger.info({ tenant: tenantId, program: programId, isDone }, "a schedule was extended");
    if (isDone) return;
  }
}
