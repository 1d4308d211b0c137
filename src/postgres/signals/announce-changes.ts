import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "pg";
import { CHANNEL, SAY, toPayload } from "./change-signals.js";

/** Tells all processes whose data changed. */
export interface Announcer {
  /** Says, soon, that something of a tenant has committed. */
  announce(tenantId: string): void;
  /** Waits for what is being said. */
  close(): Promise<void>;
}

/** What is said is apart by this at least: a NOTIFY has a lock of the whole server for its commit. */
const PAUSE_MS = 50;
/** A payload has less than 8,000 bytes. */
const MAX_TENANTS = 200;

/**
 * Says it by statements of its own, which no call waits for: in the commit of a call, NOTIFY would let only one call of the
 * whole server commit at a time. The first is said at once, and what comes within 50 ms by one NOTIFY for all. What cannot be
 * said is not said: those who listen look by themselves too.
 */
export function createAnnouncer(pool: Pick<Pool, "query">): Announcer {
  const changed = new Set<string>();
  let speaking: Promise<void> | undefined;
  const speak = async () => {
    while (changed.size > 0) {
      const tenantIds = [...changed].slice(0, MAX_TENANTS);
      for (const tenantId of tenantIds) changed.delete(tenantId);
      await pool.query(SAY, [CHANNEL, toPayload(tenantIds)]).catch(() => undefined);
      await delay(PAUSE_MS);
    }
    speaking = undefined;
  };
  return {
    announce(tenantId) {
      changed.add(tenantId);
      speaking ??= speak();
    },
    async close() {
      await speaking;
    },
  };
}
