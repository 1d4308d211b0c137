import type { FeedPage } from "../postgres/tables/events/event-feed.js";
import type { FeedReader } from "./feed-reader.js";
import type { LiveEvents } from "./live-events.js";
import { TenantFeed } from "./tenant-feed.js";

/** What those who watch events need. Everything rejects with SERVICE_UNAVAILABLE while the database is away. */
export interface EventHub {
  /** The events of a tenant from now on, until they are closed. */
  watch(tenantId: string): Promise<LiveEvents>;
  /** What is behind a position, for who is not that far: a page, which those who ask for it at once share. */
  read(tenantId: string, after: number): Promise<FeedPage>;
  /** The position ahead of the oldest event that is kept. Somebody watches the tenant. */
  findOldest(tenantId: string): Promise<number>;
}

/** Word of changes from other processes, for as long as it is listened to. */
export interface Listening {
  /** Whether word is known to come. */
  isHeard(): boolean;
  close(): Promise<void>;
}

/** What the hub needs. */
export interface EventHubPorts {
  readonly reader: FeedReader;
  /** Of these tenants, each with the position that its feed was read to, those that have more. */
  readonly findChanged: (known: ReadonlyMap<string, number>) => Promise<ReadonlySet<string>>;
  readonly listen: (onChanged: (tenantIds: readonly string[]) => void) => Listening;
  /** Told of the first of several failures in a row. */
  readonly onError: (error: unknown) => void;
}

/** The hub of a process, and what wakes it. */
export interface RunningEventHub extends EventHub {
  /** Says that something of a tenant has committed. */
  wake(tenantId: string): void;
  /** Follows no feed any more. Those who watch are to be told otherwise. */
  close(): Promise<void>;
}

const PAGE_EVENTS = 500;
/** How often is looked for what nobody gave word of: where word comes, and where it is not known to. */
const QUIET_LOOK_MS = 2_000;
const ANXIOUS_LOOK_MS = 100;

/**
 * Follows the feeds of the tenants that somebody watches, and no other, in this process: what is new in one is read once,
 * whoever and however many watch it. Word of changes makes it quick; a look at all of these feeds at once, every two seconds, or
 * every 100 ms where no word is known to come, finds what no word came of.
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
  #lookedAt = 0;
  #isLooking = false;
  #isFailing = false;

  constructor(private readonly ports: EventHubPorts) {}

  async watch(tenantId: string): Promise<LiveEvents> {
    const feed = this.#feeds.get(tenantId) ?? this.#addFeed(tenantId);
    this.#listening ??= this.ports.listen((tenantIds) => {
      for (const changed of tenantIds) this.wake(changed);
    });
    this.#timer ??= setInterval(() => void this.#look(), ANXIOUS_LOOK_MS);
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

  async #look(): Promise<void> {
    const pauseMs = this.#listening?.isHeard() === true ? QUIET_LOOK_MS : ANXIOUS_LOOK_MS;
    if (this.#isLooking || performance.now() - this.#lookedAt < pauseMs - ANXIOUS_LOOK_MS / 2) return;
    this.#isLooking = true;
    try {
      const known = new Map([...this.#feeds].map(([tenantId, { position }]) => [tenantId, position]));
      for (const tenantId of await this.ports.findChanged(known)) this.wake(tenantId);
      this.#isFailing = false;
    } catch (error) {
      this.#failed(error);
    } finally {
      this.#lookedAt = performance.now();
      this.#isLooking = false;
    }
  }

  #failed(error: unknown): void {
    if (!this.#isFailing) this.ports.onError(error);
    this.#isFailing = true;
  }
}
