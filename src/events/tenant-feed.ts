import { setTimeout as delay } from "node:timers/promises";
import { type FeedPage, type FeedPlace, goesOn } from "../postgres/tables/events/event-feed.js";
import type { FeedReader } from "./feed-reader.js";
import { LiveEvents } from "./live-events.js";

/** How many events are read in one turn, at most. */
const TURN_EVENTS = 500;
/** What turns are apart at least: where much happens, what came meanwhile is read at once. */
const TURN_GAP_MS = 20;
const BEHIND_ALL = Number.MAX_SAFE_INTEGER;

/** The feed of a tenant as this process follows it: what is new is read once, for everybody who watches. */
export class TenantFeed {
  readonly #watchers = new Set<LiveEvents>();
  /** Who watches, and who is about to. */
  #users = 0;
  #place: FeedPlace | undefined;
  #beginning: Promise<FeedPlace> | undefined;
  #isTurning = false;
  #isWoken = false;

  constructor(
    private readonly tenantId: string,
    private readonly ports: {
      readonly reader: FeedReader;
      readonly onError: (error: unknown) => void;
      /** Told when the last watcher is gone. */
      readonly onEmpty: () => void;
    },
  ) {}

  /** How far the feed was read; 0 where it was not yet. */
  get position(): number {
    return this.#place?.position ?? 0;
  }

  /** Adds a watcher, to whom everything comes that has no position by now. */
  async watch(): Promise<LiveEvents> {
    this.#users += 1;
    try {
      const from = this.#place ?? (await this.#begin());
      const watcher: LiveEvents = new LiveEvents(this.#place ?? from, () => {
        if (this.#watchers.delete(watcher)) this.#leave();
      });
      this.#watchers.add(watcher);
      return watcher;
    } catch (error) {
      this.#leave();
      throw error;
    }
  }

  /** Has what is new read, in a turn of its own where one is under way. */
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
    const place = this.#place ?? (await this.#begin());
    const page = await this.ports.reader.read(this.tenantId, place.position, TURN_EVENTS);
    if (page.isOutstanding || page.events.length === TURN_EVENTS) this.#isWoken = true;
    if (!goesOn(page, place)) return this.#beginAnew(page);
    const position = page.events.at(-1)?.position ?? place.position;
    this.#place = { feedId: page.feedId, position };
    if (page.events.length > 0) for (const watcher of this.#watchers) watcher.add(page.events);
  }

  /** The feed was set back: everybody reads where they were, and is told. */
  #beginAnew({ feedId, lastPosition }: FeedPage): void {
    this.#place = { feedId, position: lastPosition };
    for (const watcher of this.#watchers) watcher.fallBehind();
  }

  async #begin(): Promise<FeedPlace> {
    this.#beginning ??= this.ports.reader
      .read(this.tenantId, BEHIND_ALL, 1)
      .then(({ feedId, lastPosition }) => (this.#place = { feedId, position: lastPosition }))
      .finally(() => (this.#beginning = undefined));
    return this.#beginning;
  }
}
