import type { EventRecord, FeedCursor } from "../postgres/tables/events/event-feed.js";

/** The result of waiting: new events; QUIET if none arrived in time; BEHIND if the watcher must read the database. */
export type News = readonly EventRecord[] | "QUIET" | "BEHIND";

/** The highest number of events that are buffered for one watcher. */
const MAX_KEPT = 1_000;

/** The events of a tenant after a cursor, as they arrive. Each watcher has its own buffer. The records are shared. */
export class LiveEvents {
  #kept: EventRecord[] = [];
  #isBehind = false;
  #stopWaiting: () => void = () => undefined;

  constructor(
    /** The position after which all events arrive. */
    readonly from: FeedCursor,
    /** Unsubscribes. No events arrive afterwards. */
    readonly close: () => void,
  ) {}

  /** Adds events to the buffer. If it would become too large, the watcher must read the events from the database. */
  add(events: readonly EventRecord[]): void {
    if (this.#kept.length + events.length > MAX_KEPT) return this.fallBehind();
    this.#kept.push(...events);
    this.#stopWaiting();
  }

  /**
   * Discards the buffer. The watcher must read from the database again, because events between the discarded events and
   * later events are missing.
   */
  fallBehind(): void {
    this.#kept = [];
    this.#isBehind = true;
    this.#stopWaiting();
  }

  /** Returns all events since the previous call. Waits for an event until the timeout ends or the signal aborts. */
  async next(timeoutMs: number, signal: AbortSignal): Promise<News> {
    if (!this.#isBehind && this.#kept.length === 0 && !signal.aborted) await this.#wait(timeoutMs, signal);
    if (this.#isBehind) return "BEHIND";
    if (this.#kept.length === 0) return "QUIET";
    return this.#kept.splice(0);
  }

  #wait(timeoutMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const stop = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", stop);
        resolve();
      };
      const timer = setTimeout(stop, timeoutMs);
      signal.addEventListener("abort", stop);
      this.#stopWaiting = stop;
    });
  }
}
