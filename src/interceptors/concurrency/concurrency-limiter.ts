import type { ConcurrencyLimiter, Permit, PermitRejection, PermitRequest } from "../concurrency-limit.js";
import { FairQueue } from "./fair-queue.js";

/** Maximum numbers of running and waiting calls, or of open streams if the limiter is for streams. */
export interface ConcurrencyLimits {
  readonly perPrincipal: number;
  readonly perTenant: number;
  /** Maximum number of running calls of all tenants. Each uses a database connection. Defaults to no limit. */
  readonly all?: number;
  /** Maximum number of calls of all tenants that wait for a permit. Defaults to no limit. */
  readonly waiting?: number;
  /**
   * Maximum number of running heavy calls of all tenants. It leaves connections for light calls. Defaults to no limit.
   */
  readonly heavy?: number;
  readonly heavyPerTenant?: number;
  /**
   * Maximum number of running bulk calls of all tenants. Bulk calls do not count for `perPrincipal` and `perTenant`.
   * Defaults to no limit.
   */
  readonly bulk?: number;
  readonly bulkPerTenant?: number;
  /** The longest wait for a permit, in milliseconds. */
  readonly maxWaitMs: number;
}

/** A limiter that reports the length of its queue. */
export interface QueueingLimiter extends ConcurrencyLimiter {
  readonly waiting: number;
}

/** A counter of running calls, and the limit of the counter. */
interface CounterLimit {
  readonly scope: PermitRejection;
  readonly counter: string;
  readonly max: number;
}

/**
 * A call that waits for a permit. `flow` is its key ({@link flowOf}). `startTag` is its tag in the {@link FairQueue}.
 */
interface QueuedCall {
  readonly flow: string;
  readonly counterLimits: readonly CounterLimit[];
  readonly startTag: number;
  /** Ends the wait with a permit or a rejection. */
  readonly end: (outcome: Permit | PermitRejection) => void;
}

const MAX_QUEUED_PER_TENANT = 100;
const ANY = Number.POSITIVE_INFINITY;
const ALL = "all";

/**
 * Creates a limiter for the calls or streams of this process.
 * - A call above a limit waits up to `maxWaitMs`. Waiting calls run in the order of the {@link FairQueue}.
 * - A call above a limit is rejected immediately if 100 calls of its tenant already wait. Bulk calls count separately.
 * - A waiting call is skipped while a limit of its principal, its tenant, heavy calls or bulk calls is reached.
 * - When the queue is full, its last call is rejected. This may be the new call. So the rejected calls are those of the
 *   tenants that cause the excess.
 */
export function createConcurrencyLimiter(limits: ConcurrencyLimits): QueueingLimiter {
  const pool = new PermitPool({ ...limits, all: limits.all ?? ANY, waiting: limits.waiting ?? ANY });
  return {
    acquire: async (request) => pool.acquire(request, counterLimitsOf(request, limits)),
    rejectionFor: (request) =>
      pool.waiting === 0 ? undefined : pool.rejectionFor(flowOf(request), counterLimitsOf(request, limits)),
    get waiting() {
      return pool.waiting;
    },
  };
}

function counterLimitsOf(
  { tenantId, principalId, isHeavy, isBulk }: Omit<PermitRequest, "signal">,
  limits: ConcurrencyLimits,
): readonly CounterLimit[] {
  if (isBulk) {
    return [
      { scope: "TENANT", counter: `bulk ${tenantId}`, max: limits.bulkPerTenant ?? ANY },
      { scope: "PROCESS", counter: "bulk", max: limits.bulk ?? ANY },
      { scope: "PROCESS", counter: ALL, max: limits.all ?? ANY },
    ];
  }
  const heavy: readonly CounterLimit[] = [
    { scope: "TENANT", counter: `heavy ${tenantId}`, max: limits.heavyPerTenant ?? ANY },
    { scope: "HEAVY", counter: "heavy", max: limits.heavy ?? ANY },
  ];
  return [
    { scope: "PRINCIPAL", counter: `principal ${tenantId} ${principalId}`, max: limits.perPrincipal },
    { scope: "TENANT", counter: `tenant ${tenantId}`, max: limits.perTenant },
    ...(isHeavy ? heavy : []),
    { scope: "PROCESS", counter: ALL, max: limits.all ?? ANY },
  ];
}

/** Returns the key under which waiting calls are ordered and counted. Bulk calls of a tenant have a separate key. */
function flowOf({ tenantId, isBulk }: Pick<PermitRequest, "tenantId" | "isBulk">): string {
  return isBulk ? `bulk ${tenantId}` : tenantId;
}

class PermitPool {
  readonly #counts = new Map<string, number>();
  readonly #fairQueue = new FairQueue();
  /** The waiting calls, lowest start tag of the {@link FairQueue} first. */
  readonly #queue: QueuedCall[] = [];

  constructor(private readonly limits: Required<Pick<ConcurrencyLimits, "all" | "waiting" | "maxWaitMs">>) {}

  get waiting(): number {
    return this.#queue.length;
  }

  acquire(
    request: PermitRequest,
    counterLimits: readonly CounterLimit[],
  ): Permit | Promise<Permit | PermitRejection> | PermitRejection {
    const { signal } = request;
    const flow = flowOf(request);
    const rejection = this.rejectionFor(flow, counterLimits);
    if (rejection !== undefined) return rejection;
    if (signal.aborted) return "PRINCIPAL";
    const hasRoom = this.#haveRoomFor(counterLimits);
    const startTag = this.#fairQueue.assign(flow);
    return hasRoom ? this.#grant(counterLimits, startTag) : this.#enqueue({ flow, signal }, counterLimits, startTag);
  }

  /** Returns the limit that would reject a call now, or undefined if the call would run or wait. */
  rejectionFor(flow: string, counterLimits: readonly CounterLimit[]): PermitRejection | undefined {
    if (this.#haveRoomFor(counterLimits)) return undefined;
    const last = this.#queue.length < this.limits.waiting ? undefined : this.#queue.at(-1);
    const isLast = last !== undefined && last.startTag <= this.#fairQueue.startTagOf(flow);
    const isTenantQueueFull = this.#countOf(`waiting ${flow}`) >= MAX_QUEUED_PER_TENANT;
    return isLast || isTenantQueueFull ? this.#exceededScope(counterLimits) : undefined;
  }

  #enqueue(
    { flow, signal }: { readonly flow: string; readonly signal: AbortSignal },
    counterLimits: readonly CounterLimit[],
    startTag: number,
  ): Promise<Permit | PermitRejection> {
    return new Promise((resolve) => {
      const end = (outcome: Permit | PermitRejection) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", giveUp);
        this.#queue.splice(this.#queue.indexOf(waiting), 1);
        this.#change(`waiting ${flow}`, -1);
        if (typeof outcome === "string") this.#fairQueue.revoke(flow, startTag);
        resolve(outcome);
      };
      const waiting = { flow, counterLimits, startTag, end };
      const giveUp = () => end(this.#exceededScope(counterLimits));
      const timer = setTimeout(giveUp, this.limits.maxWaitMs);
      signal.addEventListener("abort", giveUp);
      this.#insert(waiting);
    });
  }

  #insert(waiting: QueuedCall): void {
    if (this.#queue.length >= this.limits.waiting) this.#rejectLast();
    const after = this.#queue.findIndex(({ startTag }) => startTag > waiting.startTag);
    this.#queue.splice(after < 0 ? this.#queue.length : after, 0, waiting);
    this.#change(`waiting ${waiting.flow}`, 1);
  }

  #rejectLast(): void {
    const last = this.#queue.at(-1);
    last?.end(this.#exceededScope(last.counterLimits));
  }

  /**
   * Runs the waiting calls that are below all their limits now. One released permit may admit several calls. For
   * example, the permit of a heavy call may admit a light call of the same tenant and a heavy call of another tenant.
   */
  #admitQueued(): void {
    for (const { counterLimits, startTag, end } of this.#queue.slice()) {
      if (this.#haveRoomFor(counterLimits)) end(this.#grant(counterLimits, startTag));
      else if (this.#countOf(ALL) >= this.limits.all) return;
    }
  }

  #grant(counterLimits: readonly CounterLimit[], startTag: number): Permit {
    for (const { counter } of counterLimits) this.#change(counter, 1);
    this.#fairQueue.advance(startTag);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      for (const { counter } of counterLimits) this.#change(counter, -1);
      this.#admitQueued();
    };
  }

  /**
   * Returns the first limit that a call exceeds. The limit of the principal comes first, the limit of the process last.
   * Returns PROCESS if no limit is exceeded.
   */
  #exceededScope(counterLimits: readonly CounterLimit[]): PermitRejection {
    return counterLimits.find((limit) => !this.#hasRoom(limit))?.scope ?? "PROCESS";
  }

  #haveRoomFor(counterLimits: readonly CounterLimit[]): boolean {
    return counterLimits.every((limit) => this.#hasRoom(limit));
  }

  #hasRoom({ counter, max }: CounterLimit): boolean {
    return this.#countOf(counter) < max;
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
