import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "pg";
import { NotificationListener } from "./notification-listener.js";

export interface ListenOptions {
  /** postgres:// URL of the database, with the same parameters as the URL of the service's pool. */
  readonly url: string;
  /**
   * The pool that sends probes: notifications that test whether notifications arrive. The listener has a connection of
   * its own.
   */
  readonly pool: Pick<Pool, "query">;
  readonly onChanged: (tenantIds: readonly string[]) => void;
  /** Called with the error of a failure, but only once for several failures in a row. */
  readonly onError: (error: unknown) => void;
}

export interface Listener {
  /** Whether it is certain that notifications arrive: the last probe notification was received. */
  isReceiving(): boolean;
  close(): Promise<void>;
}

const PROBE_EVERY_MS = 5_000;
const RECONNECT_MS = 1_000;
/** The pause before reconnecting if no probe arrived on the last connection although the connection was not lost. */
const UNSUPPORTED_MS = 60_000;

/**
 * Listens for changes on a dedicated connection until the returned listener is closed. Sends a probe notification every
 * 5 s, because a pooler in transaction mode accepts LISTEN but never delivers a notification. A probe must arrive
 * within 1 s:
 * - If the first probe on a connection does not arrive, reconnects after 60 s.
 * - If a later probe does not arrive, or after any failure, reconnects after 1 s.
 */
export function listenForChanges(options: ListenOptions): Listener {
  const ending = new AbortController();
  const state = { isReceiving: false, isFailing: false };
  const done = keepListening(options, state, ending.signal);
  return {
    isReceiving: () => state.isReceiving,
    async close() {
      ending.abort();
      await done;
    },
  };
}

interface State {
  isReceiving: boolean;
  isFailing: boolean;
}

async function keepListening(options: ListenOptions, state: State, ending: AbortSignal): Promise<void> {
  while (!ending.aborted) {
    let hasReceived = true;
    try {
      hasReceived = await listenOnce(options, state, ending);
      state.isFailing = false;
    } catch (error) {
      if (!state.isFailing && !ending.aborted) options.onError(error);
      state.isFailing = true;
    }
    await pause(hasReceived ? RECONNECT_MS : UNSUPPORTED_MS, ending);
  }
}

/**
 * Listens on one connection as long as probe notifications arrive. Returns true if a probe arrived or the connection
 * was lost. False means that the database or its pooler probably does not deliver notifications.
 */
async function listenOnce(
  { url, pool, onChanged }: ListenOptions,
  state: State,
  ending: AbortSignal,
): Promise<boolean> {
  const address = new URL(url);
  address.searchParams.delete("prepared_statements");
  const listener = new NotificationListener(address.href, onChanged);
  let hasReceived = false;
  try {
    await listener.open();
    while (!ending.aborted && (await listener.receives(pool))) {
      hasReceived = true;
      state.isReceiving = true;
      await pause(PROBE_EVERY_MS, AbortSignal.any([ending, listener.lost]));
    }
    return hasReceived || listener.lost.aborted;
  } finally {
    state.isReceiving = false;
    await listener.close();
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
