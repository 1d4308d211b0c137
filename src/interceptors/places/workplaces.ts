import type { NoPlace, Place, Worker, Workplaces } from "../calls-at-work.js";
import { Turns } from "./turns.js";

/** How many calls are at work at once, or streams are open, at most. */
export interface WorkplaceLimits {
  readonly perPrincipal: number;
  readonly perTenant: number;
  /** Calls of all tenants together, each of which has a connection to the database. Without it, any. */
  readonly all?: number;
  /** Calls of all tenants together that wait for a place. Without it, any. */
  readonly waiting?: number;
  /** Heavy calls of all tenants together: what they leave of the connections is for the others. Without it, any. */
  readonly heavy?: number;
  readonly heavyPerTenant?: number;
  /** How long a call waits in line, in milliseconds. */
  readonly patienceMs: number;
}

/** Places, and how many calls wait for one. */
export interface CountedWorkplaces extends Workplaces {
  readonly waiting: number;
}

/** One of the counters that a call is counted by. */
interface Need {
  readonly counter: string;
  readonly most: number;
}

/** A call that waits for a place. */
interface Waiting {
  readonly tenantId: string;
  readonly needs: readonly Need[];
  readonly turn: number;
  /** Ends the wait, with a place or without. */
  readonly end: (outcome: Place | NoPlace) => void;
}

/** How long a tenant's line gets. */
const MAX_IN_LINE = 100;
const ANY = Number.POSITIVE_INFINITY;
const ALL = "all";

/**
 * Keeps the places in the memory of this process, whose connections they stand for. A call that finds none waits, for as long as
 * is set and behind no more than a hundred others of its tenant; the first that fits goes first, by the {@link Turns} of the tenants.
 * Where as many wait as may, a new one takes the place of the one whose turn is furthest away, or is refused where that is itself:
 * so what is too much is refused to those of whom it is, and nobody else.
 */
export function createWorkplaces(limits: WorkplaceLimits): CountedWorkplaces {
  const places = new Places({ ...limits, all: limits.all ?? ANY, waiting: limits.waiting ?? ANY });
  return {
    take: async (worker) => places.take(worker, needsOf(worker, limits)),
    refusalOf: (worker) => places.refusalOf(worker.tenantId, needsOf(worker, limits)),
    get waiting() {
      return places.waiting;
    },
  };
}

function needsOf({ tenantId, principalId, isHeavy }: Omit<Worker, "signal">, limits: WorkplaceLimits): readonly Need[] {
  const light = [
    { counter: ALL, most: limits.all ?? ANY },
    { counter: `tenant ${tenantId}`, most: limits.perTenant },
    { counter: `principal ${tenantId} ${principalId}`, most: limits.perPrincipal },
  ];
  if (!isHeavy) return light;
  return [
    ...light,
    { counter: "heavy", most: limits.heavy ?? ANY },
    { counter: `heavy ${tenantId}`, most: limits.heavyPerTenant ?? ANY },
  ];
}

class Places {
  readonly #counts = new Map<string, number>();
  readonly #turns = new Turns();
  /** The one first whose turn comes first. */
  readonly #line: Waiting[] = [];

  constructor(private readonly limits: Required<Pick<WorkplaceLimits, "all" | "waiting" | "patienceMs">>) {}

  get waiting(): number {
    return this.#line.length;
  }

  take(worker: Worker, needs: readonly Need[]): Place | Promise<Place | NoPlace> | NoPlace {
    const { tenantId, signal } = worker;
    const refusal = this.refusalOf(tenantId, needs);
    if (refusal !== undefined) return refusal;
    if (signal.aborted) return "LIMIT";
    const hasRoom = this.#haveRoomFor(needs);
    const turn = this.#turns.give(tenantId);
    return hasRoom ? this.#occupy(needs, turn) : this.#waitFor(worker, needs, turn);
  }

  /** Why a call that came now would be refused at once; undefined where it would work or wait. */
  refusalOf(tenantId: string, needs: readonly Need[]): NoPlace | undefined {
    if (this.#haveRoomFor(needs)) return undefined;
    const last = this.#line.length < this.limits.waiting ? undefined : this.#line.at(-1);
    const isLast = last !== undefined && last.turn <= this.#turns.of(tenantId);
    const isLineFull = this.#countOf(`waiting ${tenantId}`) >= MAX_IN_LINE;
    return isLast || isLineFull ? this.#whatLacks(needs) : undefined;
  }

  #waitFor({ tenantId, signal }: Worker, needs: readonly Need[], turn: number): Promise<Place | NoPlace> {
    return new Promise((resolve) => {
      const end = (outcome: Place | NoPlace) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", giveUp);
        this.#line.splice(this.#line.indexOf(waiting), 1);
        this.#change(`waiting ${tenantId}`, -1);
        if (typeof outcome === "string") this.#turns.takeBack(tenantId, turn);
        resolve(outcome);
      };
      const waiting = { tenantId, needs, turn, end };
      const giveUp = () => end(this.#whatLacks(needs));
      const timer = setTimeout(giveUp, this.limits.patienceMs);
      signal.addEventListener("abort", giveUp);
      this.#lineUp(waiting);
    });
  }

  #lineUp(waiting: Waiting): void {
    if (this.#line.length >= this.limits.waiting) this.#turnAwayLast();
    const behind = this.#line.findIndex(({ turn }) => turn > waiting.turn);
    this.#line.splice(behind < 0 ? this.#line.length : behind, 0, waiting);
    this.#change(`waiting ${waiting.tenantId}`, 1);
  }

  #turnAwayLast(): void {
    const last = this.#line.at(-1);
    last?.end(this.#whatLacks(last.needs));
  }

  /** What one call leaves is room for one of its tenant and one of any. */
  #admitWaiting(): void {
    for (const { needs, turn, end } of this.#line.slice()) {
      if (this.#haveRoomFor(needs)) end(this.#occupy(needs, turn));
      else if (this.#countOf(ALL) >= this.limits.all) return;
    }
  }

  #occupy(needs: readonly Need[], turn: number): Place {
    for (const { counter } of needs) this.#change(counter, 1);
    this.#turns.reach(turn);
    let isOccupied = true;
    return () => {
      if (!isOccupied) return;
      isOccupied = false;
      for (const { counter } of needs) this.#change(counter, -1);
      this.#admitWaiting();
    };
  }

  /** What stands in the way of a call: a limit of its own kind, or that of all. */
  #whatLacks(needs: readonly Need[]): NoPlace {
    return needs.some((need) => need.counter !== ALL && !this.#hasRoom(need)) ? "LIMIT" : "OVERLOAD";
  }

  #haveRoomFor(needs: readonly Need[]): boolean {
    return needs.every((need) => this.#hasRoom(need));
  }

  #hasRoom({ counter, most }: Need): boolean {
    return this.#countOf(counter) < most;
  }

  #change(counter: string, by: 1 | -1): void {
    const count = this.#countOf(counter) + by;
    if (count === 0) this.#counts.delete(counter);
    else this.#counts.set(counter, count);
  }

  #countOf(counter: string): number {
    return this.#counts.get(counter) ?? 0;
  }
}
