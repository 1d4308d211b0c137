import type { Logger } from "pino";
import type { Transaction } from "../call.js";
import { runAsActiveTenant, type TransactionSource } from "../postgres/run-transaction.js";
import { extendNextProgram, type Turn } from "../services/schedule/extend-next-program.js";

const LIMITS = { statementTimeoutMs: 10_000, lockTimeoutMs: 1_000, idleTimeoutMs: 15_000 };

/** Dependencies of extending a schedule. */
export interface ExtensionPorts {
  readonly database: TransactionSource;
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
  /** The maximum number of open slots of a tenant. An open slot is free and starts in the future. */
  readonly maxOpenSlots: number;
  /**
   * Logs each extension and each comparison of existing slots with changed rules or practitioners. Also logs a warning
   * each time that a schedule cannot be extended because its tenant is at its open-slot limit.
   */
  readonly logger: Pick<Logger, "info" | "warn">;
  /** Called each time a schedule cannot be extended because its tenant is at its open-slot limit. */
  readonly onFull?: (() => void) | undefined;
}

/**
 * Runs {@link extendNextProgram} in its own transaction. It adds a limited number of slots to the schedule of one
 * program, or it withdraws all slots of one program that no longer fit its changed rules or practitioners. Returns the
 * outcome. For a tenant that is not active, changes nothing and returns DONE.
 *
 * After ADDED, COMPARED or BUSY, more work may be left. The caller then calls again, after the jobs of other tenants.
 * Processes that extend schedules of the same tenant at the same time choose different programs.
 */
export async function extendSchedules(
  tenantId: string,
  { database, now, maxOpenSlots, logger, onFull }: ExtensionPorts,
): Promise<Turn> {
  const work = (transaction: Transaction) => extendNextProgram(transaction, now(), maxOpenSlots);
  const turn: Turn = (await runAsActiveTenant(database, tenantId, LIMITS, work)) ?? { kind: "DONE" };
  if (turn.kind === "ADDED") {
    const { programId: program, through } = turn;
    logger.info({ tenant: tenantId, program, through }, "a schedule was extended");
  }
  if (turn.kind === "COMPARED") {
    logger.info({ tenant: tenantId, program: turn.programId }, "slots far ahead were compared with changed rules");
  }
  if (turn.kind === "FULL") {
    onFull?.();
    const { openSlots } = turn;
    const text = "a tenant reached MAX_OPEN_SLOTS; its schedules are not extended";
    logger.warn({ tenant: tenantId, openSlots, maxOpenSlots }, text);
  }
  return turn;
}
