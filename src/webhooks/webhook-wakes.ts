import type { WebhookKey } from "../postgres/tables/webhooks/webhook-overview.js";

/** Queues jobs that send new events to webhooks. */
export interface WebhookWakes {
  /**
   * Queues a job for each active webhook of a tenant, usually about 100 ms later. Call this after a transaction of the
   * tenant has committed.
   */
  committed(tenantId: string): void;
  /** Stops queueing, and waits for the running statements. */
  close(): Promise<void>;
}

/** The dependencies of {@link createWebhookWakes}. */
export interface WebhookWakesPorts {
  /** Returns the active webhooks of these tenants. */
  readonly findActive: (tenantIds: readonly string[]) => Promise<readonly WebhookKey[]>;
  /** Queues a job for each of these webhooks. */
  readonly addJobs: (webhooks: readonly WebhookKey[]) => Promise<void>;
  /**
   * Called if jobs cannot be queued. Further errors are not reported until queueing succeeds again. No event is lost:
   * every minute, another job finds the webhooks with unsent events.
   */
  readonly onError: (error: unknown) => void;
}

/** How long commits are collected before jobs are queued, in milliseconds. */
const GATHER_MS = 100;
/** How long the webhooks of a tenant are cached, in milliseconds. */
const KNOWN_MS = 2_000;

/** The cached webhooks of a tenant. `until` is the end of their validity, in milliseconds of the monotonic clock. */
interface Known {
  readonly webhooks: readonly WebhookKey[];
  readonly until: number;
}

/**
 * Creates a {@link WebhookWakes}. It queues a job for each active webhook of a tenant about 100 ms after a commit,
 * outside the transactions of calls. So calls run no additional statement, and several commits share one job.
 *
 * The webhooks of a tenant are cached for 2 s. The cache can lack a new webhook. So within about 2 s after jobs were
 * queued from the cache, the webhooks are read again, and each gets a job.
 */
export function createWebhookWakes(ports: WebhookWakesPorts): WebhookWakes {
  return new Wakes(ports);
}

class Wakes implements WebhookWakes {
  readonly #changed = new Set<string>();
  readonly #waiting = new Set<string>();
  readonly #known = new Map<string, Known>();
  #gathering: NodeJS.Timeout | undefined;
  #asking: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #isFailing = false;
  #isClosed = false;

  constructor(private readonly ports: WebhookWakesPorts) {}

  committed(tenantId: string): void {
    if (this.#isClosed) return;
    this.#changed.add(tenantId);
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      this.#flush();
    }, GATHER_MS).unref();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#gathering);
    clearTimeout(this.#asking);
    await this.#running;
  }

  #flush(): void {
    const tenantIds = [...this.#changed];
    this.#changed.clear();
    this.#running = this.#running
      .then(() => this.#wake(tenantIds))
      .then(
        () => void (this.#isFailing = false),
        (error: unknown) => {
          if (!this.#isFailing) this.ports.onError(error);
          this.#isFailing = true;
        },
      );
  }

  async #wake(tenantIds: readonly string[]): Promise<void> {
    const now = performance.now();
    for (const [tenantId, { until }] of this.#known) if (until <= now) this.#known.delete(tenantId);
    const known = tenantIds.filter((tenantId) => this.#known.has(tenantId));
    const unknown = tenantIds.filter((tenantId) => !this.#known.has(tenantId));
    for (const tenantId of known) this.#askLater(tenantId);
    await this.#learn(unknown, now + KNOWN_MS);
    const due = tenantIds.flatMap((tenantId) => this.#known.get(tenantId)?.webhooks ?? []);
    if (due.length > 0) await this.ports.addJobs(due);
  }

  async #learn(tenantIds: readonly string[], until: number): Promise<void> {
    if (tenantIds.length === 0) return;
    const found = await this.ports.findActive(tenantIds);
    for (const tenantId of tenantIds) {
      this.#known.set(tenantId, { webhooks: found.filter((webhook) => webhook.tenantId === tenantId), until });
    }
  }

  #askLater(tenantId: string): void {
    this.#waiting.add(tenantId);
    this.#asking ??= setTimeout(() => {
      this.#asking = undefined;
      for (const waiting of this.#waiting) {
        this.#known.delete(waiting);
        this.#changed.add(waiting);
      }
      this.#waiting.clear();
      this.#flush();
    }, KNOWN_MS).unref();
  }
}
