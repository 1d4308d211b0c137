import type { EventRecord, FeedCursor } from "../postgres/tables/events/event-feed.js";

/**
 * The result of {@link LiveEvents.next}: new events; QUIET if none arrived in time; BEHIND if the watcher must read the
 * database.
 */
export type News = readonly EventRecord[] | "QUIET" | "BEHIND";

/** The maximum number of events that are buffered for one watcher. */
const MAX_KEPT = 1_000;

/**
 * Buffers the events of one watcher. A watcher is an open stream of a tenant's events. The buffer receives the events
 * after the position `from`. The buffers of several watchers share the event records.
 */
export class LiveEvents {
  #kept: EventRecord[] = [];
  #isBehind = false;
  #stopWaiting: () => void = () => undefined;

  constructor(
    /** The buffer receives the events after this position. */
    readonly from: FeedCursor,
    /** Unsubscribes. No events arrive afterwards. */
    readonly close: () => void,
  ) {}

  /** Adds events to the buffer. If the buffer would have more than 1,000 events, calls {@link fallBehind} instead. */
  add(events: readonly EventRecord[]): void {
    if (this.#kept.length + events.length > MAX_KEPT) return this.fallBehind();
    this.#kept.push(...events);
    this.#stopWaiting();
  }

  /**
   * Discards the buffered events. From then on {@link next} returns BEHIND. The watcher must read the missing events
   * from the database.
   */
  fallBehind(): void {
    this.#kept = [];
    this.#isBehind = true;
    this.#stopWaiting();
  }

  /**
   * Returns the events since the previous call. If there are none, waits until an event arrives, {@link fallBehind} is
   * called, the timeout ends or the signal aborts. Returns QUIET if no event arrived. After {@link fallBehind}, always
   * returns BEHIND.
   */
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
