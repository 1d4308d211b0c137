import type { Database } from "../postgres/database.js";
import { findDuePrograms, sendProgramLock } from "../postgres/due-programs.js";
import { runAsTenant } from "../postgres/tenant-transaction.js";
import { extendProgram, horizonFrom } from "../services/materialize.js";

const LIMITS = { statementTimeoutMs: 10_000, lockTimeoutMs: 2_000, idleTimeoutMs: 15_000 };

/** What extending schedules needs. */
export interface ExtensionPorts {
  readonly database: Pick<Database, "pool" | "acquire" | "namedStatements">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Ends the work behind the program that is being worked on. */
  readonly signal: AbortSignal;
  /** Told of each program whose schedule could not be extended; the others are, and this one is due again next time. */
  readonly onError: (error: unknown) => void;
}

/**
 * Extends the schedules of all tenants that were made before to the horizon, each program in a transaction of its own, and
 * gives the number of those that it extended. Of processes that do so at once, one extends a program and the others, which
 * waited for its lock, find it done. Rejects where it could not be asked which programs are due.
 */
export async function extendSchedules({ database, now, signal, onError }: ExtensionPorts): Promise<number> {
  let extended = 0;
  for (const { tenantId, id } of await findDuePrograms(database.pool, horizonFrom(now()).through)) {
    if (signal.aborted) break;
    try {
      const isExtended = await runAsTenant(database, tenantId, LIMITS, (transaction) => {
        sendProgramLock(transaction, id);
        return extendProgram(transaction, id, now());
      });
      if (isExtended) extended += 1;
    } catch (error) {
      onError(error);
    }
  }
  return extended;
}
