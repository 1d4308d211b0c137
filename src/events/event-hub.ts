import type { FeedPage } from "../postgres/tables/events/event-feed.js";
import type { FeedReader } from "./feed-reader.js";
import type { LiveEvents } from "./live-events.js";
import { TenantFeed } from "./tenant-feed.js";

/**
 * The source of events for the watches of this process. A watch is an open stream of a tenant's events. A method that
 * must read the database rejects with SERVICE_UNAVAILABLE while the database is unavailable or busy.
 */
export interface EventHub {
  /** Subscribes to the events of a tenant from now on. Close the result to unsubscribe. */
  watch(tenantId: string): Promise<LiveEvents>;
  /**
   * Reads a page of stored events after a position, for a watch (an open event stream). Concurrent reads of the same
   * page share one query.
   */
  read(tenantId: string, after: number): Promise<FeedPage>;
  /**
   * Returns the position just before the oldest stored event. If no event is stored, returns the last position of the
   * feed. Returns 0 for a tenant without a feed; `watch` creates the feed.
   */
  findOldest(tenantId: string): Promise<number>;
}

/** A subscription to notifications of the changes that other processes make. */
export interface Listening {
  /** Whether it is certain that notifications arrive. If false, the hub polls more often. */
  isReceiving(): boolean;
  close(): Promise<void>;
}

/** The dependencies of the hub. */
export interface EventHubPorts {
  readonly reader: FeedReader;
  /**
   * Returns the tenants in `known` whose feeds have new events. `known` maps a tenant to the last position read. Events
   * are new if their position is after the last position read, or if they are committed and have no position yet.
   */
  readonly findChanged: (known: ReadonlyMap<string, number>) => Promise<ReadonlySet<string>>;
  readonly listen: (onChanged: (tenantIds: readonly string[]) => void) => Listening;
  /**
   * Called with the error of a failed background read or poll, or of a failed end of the notifications. Later errors
   * are not reported until a poll succeeds.
   */
  readonly onError: (error: unknown) => void;
}

/** The hub of a process. Only the code that created the hub calls `wake` and `close`. */
export interface RunningEventHub extends EventHub {
  /** Notifies the hub that a transaction of a tenant has committed. */
  wake(tenantId: string): void;
  /** Ends the polls and the notifications. Does not wait for a read in progress. Open watches are not notified. */
  close(): Promise<void>;
}

const PAGE_EVENTS = 500;
/** Milliseconds between polls while it is certain that notifications arrive. */
const SLOW_POLL_MS = 2_000;
/** Milliseconds between polls while it is not certain that notifications arrive. */
const FAST_POLL_MS = 100;

/**
 * Creates the hub. It reads the feeds of all tenants with watches in this process. Each new event is read once for all
 * watches of its tenant.
 *
 * Notifications of changes start a read immediately. The hub also polls all of these feeds with one query, to find
 * changes for which no notification arrived. It polls every 2 s, or every 100 ms while it is not certain that
 * notifications arrive.
 */
export function createEventHub(ports: EventHubPorts): RunningEventHub {
  const hub = new Hub(ports);
  return {
    watch: (tenantId) => hub.watch(tenantId),
    read: (tenantId, after) => hub.read(tenantId, after),
    findOldest: (tenantId) => ports.reader.findOldest(tenantId),
    wake: (tenantId) => hub.wake(tenantId),
    close: () => hub.close(),
  };
}

class Hub {
  readonly #feeds = new Map<string, TenantFeed>();
  readonly #reading = new Map<string, Promise<FeedPage>>();
  #listening: Listening | undefined;
  #timer: NodeJS.Timeout | undefined;
  #polledAt = 0;
  #isPolling = false;
  #isFailing = false;

  constructor(private readonly ports: EventHubPorts) {}

  async watch(tenantId: string): Promise<LiveEvents> {
    const feed = this.#feeds.get(tenantId) ?? this.#addFeed(tenantId);
    this.#listening ??= this.ports.listen((tenantIds) => {
      for (const changed of tenantIds) this.wake(changed);
    });
    this.#timer ??= setInterval(() => void this.#poll(), FAST_POLL_MS);
    return feed.watch();
  }

  read(tenantId: string, after: number): Promise<FeedPage> {
    const key = `${tenantId} ${after}`;
    const known = this.#reading.get(key);
    if (known !== undefined) return known;
    const reading = this.ports.reader.read(tenantId, after, PAGE_EVENTS).finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }

  wake(tenantId: string): void {
    this.#feeds.get(tenantId)?.wake();
  }

  async close(): Promise<void> {
    this.#feeds.clear();
    await this.#rest();
  }

  #addFeed(tenantId: string): TenantFeed {
    const feed = new TenantFeed(tenantId, {
      reader: this.ports.reader,
      onError: (error) => this.#failed(error),
      onEmpty: () => {
        this.#feeds.delete(tenantId);
        if (this.#feeds.size === 0) this.#rest().catch((error: unknown) => this.#failed(error));
      },
    });
    this.#feeds.set(tenantId, feed);
    return feed;
  }

  async #rest(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    const listening = this.#listening;
    this.#listening = undefined;
    await listening?.close();
  }

  async #poll(): Promise<void> {
    const pauseMs = this.#listening?.isReceiving() === true ? SLOW_POLL_MS : FAST_POLL_MS;
    if (this.#isPolling || performance.now() - this.#polledAt < pauseMs - FAST_POLL_MS / 2) return;
    this.#isPolling = true;
    try {
      const known = new Map([...this.#feeds].map(([tenantId, { position }]) => [tenantId, position]));
      for (const tenantId of await this.ports.findChanged(known)) this.wake(tenantId);
      this.#isFailing = false;
    } catch (error) {
      this.#failed(error);
    } finally {
      this.#polledAt = performance.now();
      this.#isPolling = false;
    }
  }

  #failed(error: unknown): void {
    if (!this.#isFailing) this.ports.onError(error);
    this.#isFailing = true;
  }
}
