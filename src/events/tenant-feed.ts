import { setTimeout as delay } from "node:timers/promises";
import { type FeedCursor, type FeedPage, goesOn, MAX_ASSIGNED } from "../postgres/tables/events/event-feed.js";
import type { FeedReader } from "./feed-reader.js";
import { LiveEvents } from "./live-events.js";

/** The maximum number of events that one read returns. */
const TURN_EVENTS = 500;
/** The shortest pause between reads, in milliseconds. Events that arrive meanwhile are read together. */
const TURN_GAP_MS = 20;
const BEHIND_ALL = Number.MAX_SAFE_INTEGER;

/**
 * The event feed of a tenant in this process. Each new event is read once for all watchers. A watcher is an open stream
 * of the tenant's events.
 */
export class TenantFeed {
  readonly #watchers = new Set<LiveEvents>();
  /** The number of watchers, including those that are being added. */
  #users = 0;
  #cursor: FeedCursor | undefined;
  #beginning: Promise<FeedCursor> | undefined;
  #isTurning = false;
  #isWoken = false;

  constructor(
    private readonly tenantId: string,
    private readonly ports: {
      readonly reader: FeedReader;
      readonly onError: (error: unknown) => void;
      /** Called when the last watcher has left. */
      readonly onEmpty: () => void;
    },
  ) {}

  /** The last position that was read, or 0 before the first read. */
  get position(): number {
    return this.#cursor?.position ?? 0;
  }

  /**
   * Adds a watcher and returns its buffer. The buffer receives the events after the last position that the feed has
   * read.
   */
  async watch(): Promise<LiveEvents> {
    this.#users += 1;
    try {
      const from = this.#cursor ?? (await this.#begin());
      const watcher: LiveEvents = new LiveEvents(this.#cursor ?? from, () => {
        if (this.#watchers.delete(watcher)) this.#leave();
      });
      this.#watchers.add(watcher);
      return watcher;
    } catch (error) {
      this.#leave();
      throw error;
    }
  }

  /** Reads new events if the feed has watchers. If a read is running, another read follows it. */
  wake(): void {
    this.#isWoken = true;
    if (!this.#isTurning) void this.#turn();
  }

  #leave(): void {
    this.#users -= 1;
    if (this.#users === 0) this.ports.onEmpty();
  }

  async #turn(): Promise<void> {
    this.#isTurning = true;
    try {
      while (this.#isWoken && this.#watchers.size > 0) {
        this.#isWoken = false;
        await this.#advance();
        await delay(TURN_GAP_MS);
      }
    } catch (error) {
      this.ports.onError(error);
    } finally {
      this.#isTurning = false;
    }
  }

  async #advance(): Promise<void> {
    const cursor = this.#cursor ?? (await this.#begin());
    const page = await this.ports.reader.read(this.tenantId, cursor.position, TURN_EVENTS);
    if (page.isOutstanding || page.events.length === TURN_EVENTS) this.#isWoken = true;
    if (!goesOn(page, cursor)) return this.#beginAnew(page);
    const position = page.events.at(-1)?.position ?? cursor.position;
    this.#cursor = { feedId: page.feedId, position };
    if (page.events.length > 0) for (const watcher of this.#watchers) watcher.add(page.events);
  }

  /**
   * Handles a page that does not continue from the cursor, for example after a restore from a backup. Reading continues
   * at the end of the feed. Notifies all watchers, which then read the database again from their own cursors.
   */
  #beginAnew({ feedId, lastPosition }: FeedPage): void {
    this.#cursor = { feedId, position: lastPosition };
    for (const watcher of this.#watchers) watcher.fallBehind();
  }

  async #begin(): Promise<FeedCursor> {
    this.#beginning ??= this.#readEnd()
      .then(({ feedId, lastPosition }) => (this.#cursor = { feedId, position: lastPosition }))
      .finally(() => (this.#beginning = undefined));
    return this.#beginning;
  }

  /** Reads the end of the feed. Each read assigns positions to some events, until all committed events have one. */
  async #readEnd(): Promise<FeedPage> {
    let page = await this.ports.reader.read(this.tenantId, BEHIND_ALL, 1);
    let before = 0;
    while (page.isOutstanding && page.lastPosition - before >= MAX_ASSIGNED) {
      before = page.lastPosition;
      page = await this.ports.reader.read(this.tenantId, BEHIND_ALL, 1);
    }
    return page;
  }
}
