import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "pg";
import { CHANNEL, NOTIFY, toPayload } from "./change-signals.js";

/** Reports to all processes which tenants have changed data. */
export interface Announcer {
  /** Notifies all processes, usually within 50 ms, that a change of this tenant was committed. */
  announce(tenantId: string): void;
  /** Waits until a NOTIFY has been tried for all announced changes. */
  close(): Promise<void>;
}

/**
 * Minimum time between two NOTIFY statements of a process: on the whole server, only one NOTIFY can commit at a time.
 */
const PAUSE_MS = 50;
/** Maximum number of tenants in one NOTIFY: PostgreSQL limits a payload to 8,000 bytes. */
const MAX_TENANTS = 200;

/**
 * Returns an announcer that sends NOTIFY outside the transactions of calls. Otherwise only one call of the whole server
 * could commit at a time. Changes within 50 ms after a NOTIFY share the next NOTIFY. A failed NOTIFY is not repeated,
 * because listeners also poll.
 */
export function createAnnouncer(pool: Pick<Pool, "query">): Announcer {
  const changed = new Set<string>();
  let notifying: Promise<void> | undefined;
  const notify = async () => {
    while (changed.size > 0) {
      const tenantIds = [...changed].slice(0, MAX_TENANTS);
      for (const tenantId of tenantIds) changed.delete(tenantId);
      await pool.query(NOTIFY, [CHANNEL, toPayload(tenantIds)]).catch(() => undefined);
      await delay(PAUSE_MS);
    }
    notifying = undefined;
  };
  return {
    announce(tenantId) {
      changed.add(tenantId);
      notifying ??= notify();
    },
    async close() {
      await notifying;
    },
  };
}
