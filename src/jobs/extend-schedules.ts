import type { Logger } from "pino";
import { runAsTenant, type TransactionSource } from "../postgres/run-transaction.js";
import { extendNextProgram, type Turn } from "../services/schedule/extend-next-program.js";

const LIMITS = { statementTimeoutMs: 10_000, lockTimeoutMs: 1_000, idleTimeoutMs: 15_000 };

/** What extending a schedule needs. */
export interface ExtensionPorts {
  readonly database: TransactionSource;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** How many open slots a tenant may have. */
  readonly maxOpenSlots: number;
  /** Told of the progress, and of a tenant that may have no more slots. */
  readonly logger: Pick<Logger, "info" | "warn">;
  /** Told of a tenant that may have no more slots, without which. */
  readonly onFull?: (() => void) | undefined;
}

/**
 * Adds one part to the schedules of a tenant, in a transaction of its own, and says what became of it: whoever asked comes
 * again, behind others. What was added stays; of processes that extend a tenant's schedules at once, each does another part.
 */
export async function extendSchedules(
  tenantId: string,
  { database, now, maxOpenSlots, logger, onFull }: ExtensionPorts,
): Promise<Turn> {
  const turn = await runAsTenant(database, tenantId, LIMITS, (transaction) =>
    extendNextProgram(transaction, now(), maxOpenSlots),
  );
  if (turn.kind === "ADDED") {
    const { programId: program, through } = turn;
    logger.info({ tenant: tenantId, program, through }, "a schedule was extended");
  }
  if (turn.kind === "FULL") {
    onFull?.();
    const { openSlots } = turn;
    const text = "a tenant has as many open slots as it may, and its schedules are not extended";
    logger.warn({ tenant: tenantId, openSlots, maxOpenSlots }, text);
  }
  return turn;
}
