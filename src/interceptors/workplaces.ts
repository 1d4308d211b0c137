import type { Worker, Workplaces } from "./calls-at-work.js";

/** How many calls are at work at once, or streams are open, at most. */
export interface WorkplaceLimits {
  readonly perPrincipal: number;
  readonly perTenant: number;
  /** Heavy calls of all tenants together: what they leave of the connections is for the others. Without it, any. */
  readonly heavy?: number;
  readonly heavyPerTenant?: number;
}

/** One of the counters that a call is counted by. */
interface Need {
  readonly counter: string;
  readonly most: number;
}

/** A call that waits for a place, and the way to give it one. */
interface Waiting {
  readonly needs: readonly Need[];
  readonly admit: () => void;
}

/** How long a call waits in line, and how long a tenant's line gets. */
const PATIENCE_MS = 2_000;
const MAX_IN_LINE = 100;

/**
 * Keeps the places in the memory of this process, whose connections they stand for. A call that finds none waits in its
 * tenant's line, two seconds at most and behind no more than a hundred others; the first that fits goes first. A place that
 * any tenant may have is given to the lines in turn, however long one of them is.
 */
export function createWorkplaces(limits: WorkplaceLimits): Workplaces {
  const places = new Places();
  return {
    async take(worker) {
      const needs = needsOf(worker, limits);
      return places.haveRoomFor(needs) ? places.occupy(needs) : places.waitFor(worker, needs);
    },
  };
}

function needsOf({ tenantId, principalId, isHeavy }: Worker, limits: WorkplaceLimits): readonly Need[] {
  const light = [
    { counter: `tenant ${tenantId}`, most: limits.perTenant },
    { counter: `principal ${tenantId} ${principalId}`, most: limits.perPrincipal },
  ];
  if (!isHeavy) return light;
  return [
    ...light,
    { counter: "heavy", most: limits.heavy ?? Number.POSITIVE_INFINITY },
    { counter: `heavy ${tenantId}`, most: limits.heavyPerTenant ?? Number.POSITIVE_INFINITY },
  ];
}

class Places {
  readonly #counts = new Map<string, number>();
  /** Of the tenants, the one first whose turn comes first. */
  readonly #lines = new Map<string, Set<Waiting>>();

  haveRoomFor(needs: readonly Need[]): boolean {
    return needs.every(({ counter, most }) => this.#countOf(counter) < most);
  }

  occupy(needs: readonly Need[]): () => void {
    for (const { counter } of needs) this.#counts.set(counter, this.#countOf(counter) + 1);
    let isOccupied = true;
    return () => {
      if (isOccupied) this.#leave(needs);
      isOccupied = false;
    };
  }

  /** Waits in the line of the tenant; undefined where nothing came free in time, or the caller is gone. */
  waitFor({ tenantId, signal }: Worker, needs: readonly Need[]): Promise<(() => void) | undefined> {
    const line = this.#lines.get(tenantId) ?? new Set();
    if (line.size >= MAX_IN_LINE || signal.aborted) return Promise.resolve(undefined);
    this.#lines.set(tenantId, line);
    return new Promise((resolve) => {
      const end = (leave?: () => void) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", giveUp);
        line.delete(waiting);
        if (line.size === 0) this.#lines.delete(tenantId);
        resolve(leave);
      };
      const waiting = { needs, admit: () => end(this.occupy(needs)) };
      const giveUp = () => end();
      const timer = setTimeout(giveUp, PATIENCE_MS);
      signal.addEventListener("abort", giveUp);
      line.add(waiting);
    });
  }

  /** What one call leaves is room for one of its tenant and one of any; who got some is the last whose turn comes. */
  #admitWaiting(): void {
    for (const [tenantId, line] of Array.from(this.#lines)) {
      const next = Array.from(line).find(({ needs }) => this.haveRoomFor(needs));
      if (next === undefined) continue;
      next.admit();
      if (!this.#lines.delete(tenantId)) continue;
      this.#lines.set(tenantId, line);
    }
  }

  #leave(needs: readonly Need[]): void {
    for (const { counter } of needs) {
      const left = this.#countOf(counter) - 1;
      if (left === 0) this.#counts.delete(counter);
      else this.#counts.set(counter, left);
    }
    this.#admitWaiting();
  }

  #countOf(counter: string): number {
    return this.#counts.get(counter) ?? 0;
  }
}
