import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "pg";
import { Ear } from "./ear.js";

/** What listening needs. */
export interface ListenOptions {
  /** postgres:// URL, as of the service's pool. */
  readonly url: string;
  /** Says the probes, on other connections. */
  readonly pool: Pick<Pool, "query">;
  readonly onChanged: (tenantIds: readonly string[]) => void;
  /** Told of the first of several failures in a row. */
  readonly onError: (error: unknown) => void;
}

/** Listening, until it is closed. */
export interface Listener {
  /** Whether what is said is known to come. */
  isHeard(): boolean;
  close(): Promise<void>;
}

const PROBE_EVERY_MS = 5_000;
const RECONNECT_MS = 1_000;
/** How much later is tried again where nothing was ever heard. */
const UNHEARD_MS = 60_000;

/**
 * Listens on a connection of its own, which is made anew when it is lost. A connection pooler in transaction mode takes LISTEN
 * and never gives word: so a probe is said every few seconds, and has to come back within one.
 */
export function listenForChanges(options: ListenOptions): Listener {
  const ending = new AbortController();
  const state = { isHeard: false, isFailing: false };
  const done = keepListening(options, state, ending.signal);
  return {
    isHeard: () => state.isHeard,
    async close() {
      ending.abort();
      await done;
    },
  };
}

interface State {
  isHeard: boolean;
  isFailing: boolean;
}

async function keepListening(options: ListenOptions, state: State, ending: AbortSignal): Promise<void> {
  while (!ending.aborted) {
    let wasHeard = true;
    try {
      wasHeard = await listenOnce(options, state, ending);
      state.isFailing = false;
    } catch (error) {
      if (!state.isFailing && !ending.aborted) options.onError(error);
      state.isFailing = true;
    }
    await pause(wasHeard ? RECONNECT_MS : UNHEARD_MS, ending);
  }
}

/** Listens on one connection for as long as it hears. Gives whether it ever did, or was lost before it could. */
async function listenOnce(
  { url, pool, onChanged }: ListenOptions,
  state: State,
  ending: AbortSignal,
): Promise<boolean> {
  const address = new URL(url);
  address.searchParams.delete("prepared_statements");
  const ear = new Ear(address.href, onChanged);
  let wasHeard = false;
  try {
    await ear.open();
    while (!ending.aborted && (await ear.hears(pool))) {
      wasHeard = true;
      state.isHeard = true;
      await pause(PROBE_EVERY_MS, AbortSignal.any([ending, ear.lost]));
    }
    return wasHeard || ear.lost.aborted;
  } finally {
    state.isHeard = false;
    await ear.close();
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
