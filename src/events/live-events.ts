import type { EventRecord, FeedPlace } from "../postgres/tables/events/event-feed.js";

/** What became of waiting for events: some came, none did in time, or more came than are kept for one who does not take them. */
export type News = readonly EventRecord[] | "QUIET" | "BEHIND";

/** How many events are kept for a watcher who does not take them. */
const MAX_KEPT = 1_000;

/** The events of a tenant from a place on, as they come. Every watcher has one of its own, with the same records in it. */
export class LiveEvents {
  #kept: EventRecord[] = [];
  #isBehind = false;
  #stopWaiting: () => void = () => undefined;

  constructor(
    /** Behind which everything comes. */
    readonly from: FeedPlace,
    /** Ends it: nothing comes any more. */
    readonly close: () => void,
  ) {}

  /** Keeps events for the watcher; one for whom too many are kept falls behind, and has to read them. */
  add(events: readonly EventRecord[]): void {
    if (this.#kept.length + events.length > MAX_KEPT) return this.fallBehind();
    this.#kept.push(...events);
    this.#stopWaiting();
  }

  /** Nothing that comes from here on goes on from what came before. */
  fallBehind(): void {
    this.#kept = [];
    this.#isBehind = true;
    this.#stopWaiting();
  }

  /** All that came since it was asked last; waits for something, until a time is over or the signal aborts. */
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
