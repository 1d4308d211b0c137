import { setTimeout as delay } from "node:timers/promises";
import type { Transaction } from "../call.js";
import { runAsTenant } from "../postgres/run-transaction.js";
import { findDue, resourceKey } from "../postgres/tables/webhooks/delivery-progress.js";
import type { DeliveryRecord } from "../postgres/tables/webhooks/webhook-deliveries.js";
import { isAsLeased, LEASE_MS, type LeasedWebhook } from "../postgres/tables/webhooks/webhook-leases.js";
import { DELIVERY_LIMITS } from "./delivery-limits.js";
import type { DeliveryPorts } from "./delivery-ports.js";
import { FanOut } from "./fan-out.js";
import { recordAttempt, recordDrop } from "./record-attempt.js";
import { SEND_TIMEOUT_MS } from "./send-event.js";
import { openSigner, type Signer } from "./sign-delivery.js";

/**
 * A {@link DeliveryRun} sends no further event after this many milliseconds. The worker is then free for other
 * webhooks.
 */
const RUN_MS = 10_000;
/**
 * The minimum time between the end of the last attempt and the end of the lease, in milliseconds. The result of the
 * attempt is stored in this time.
 */
const MARGIN_MS = 4_000;
/** The highest number of events of different resources that are sent to a webhook at the same time. */
const PARALLEL = 8;
/** The highest number of events to send that one query reads. */
const FETCHED = 64;
/** With this many pending deliveries, a webhook gets no new deliveries. */
const MAX_PENDING = 500;
/** Milliseconds between two queries for events to send, while every fetched event waits for the receiver's answer. */
const LOOK_MS = 500;

/**
 * Sends the events of a leased webhook. The events of one resource are sent in order, one at a time. The events of up
 * to eight resources are sent at the same time. The result of an event is stored before the next event of its resource
 * is fetched. Sending ends early if eight attempts failed and the receiver has accepted no event.
 */
export class DeliveryRun {
  readonly #queue: DeliveryRecord[] = [];
  readonly #busy = new Set<string>();
  readonly #sending = new Set<Promise<void>>();
  readonly #endsAt: number;
  readonly #fanOut: FanOut;
  #looking: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;
  #isOver = false;
  #isCut = false;
  #isAnswering = false;
  #failures = 0;

  /** `leasedAt` is a time just before the lease was taken, in milliseconds of the monotonic clock. */
  constructor(
    private readonly tenantId: string,
    private readonly webhook: LeasedWebhook,
    leasedAt: number,
    private readonly ports: DeliveryPorts,
    private readonly stop: AbortSignal,
  ) {
    this.#endsAt = leasedAt + Math.min(RUN_MS, LEASE_MS - SEND_TIMEOUT_MS - MARGIN_MS);
    this.#fanOut = new FanOut(tenantId, webhook, ports);
  }

  /** Whether an attempt of this run disabled the webhook. Then no further attempt begins. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether sending ended early because the receiver accepted nothing. */
  get isRefused(): boolean {
    return !this.#isAnswering && this.#failures >= PARALLEL;
  }

  /**
   * Whether sending ended early: the time of this run was over, `stop` aborted, or the webhook was not
   * {@link isAsLeased} any more. There may be more to send now.
   */
  get isCut(): boolean {
    return this.#isCut || this.#fanOut.isLost;
  }

  /**
   * Sends until nothing is left. Ends early in these cases:
   * - the time of this run is over
   * - `stop` aborts
   * - the webhook is changed, deleted or disabled, or its tenant is suspended
   * - the receiver accepts nothing
   * - an error occurs
   *
   * Then waits for the attempts in progress, and throws the first error, if any.
   */
  async send(): Promise<void> {
    const signer = await openSigner(this.tenantId, this.webhook, this.ports);
    try {
      for (;;) {
        if (!this.#mayBegin()) break;
        if (this.#queue.length === 0) await this.#refill();
        if (this.#queue.length === 0 && this.#sending.size === 0) break;
        await this.#requireAsLeased();
        while (this.#sending.size < PARALLEL && this.#mayBegin()) {
          const delivery = this.#queue.shift();
          if (delivery === undefined) break;
          this.#begin(delivery, signer);
        }
        if (this.#sending.size === 0) continue;
        await Promise.race([...this.#sending, ...(this.#queue.length === 0 ? [this.#look()] : [])]);
      }
    } finally {
      await Promise.all(this.#sending);
    }
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  #mayBegin(): boolean {
    if (this.#isOver || this.isRefused || this.#failure !== undefined) return false;
    if (this.stop.aborted || performance.now() >= this.#endsAt) this.#isCut = true;
    return !this.isCut;
  }

  /**
   * Reads events whose next attempt may begin now. If there are none, creates deliveries of new events of the feed and
   * reads again. Creates no deliveries while the webhook has {@link MAX_PENDING} pending ones.
   */
  async #refill(): Promise<void> {
    for (;;) {
      const { heads, pending } = await runAsTenant(this.ports.database, this.tenantId, DELIVERY_LIMITS, (transaction) =>
        findDue(transaction, this.webhook.id, [...this.#busy], FETCHED),
      );
      this.#queue.push(...heads);
      if (heads.length > 0 || pending >= MAX_PENDING || !this.#mayBegin()) return;
      if (!(await this.#fanOut.advance())) return;
    }
  }

  /**
   * Ends the run if the webhook is not {@link isAsLeased} any more. If it is still active, a later run sends the next
   * event with its new settings.
   */
  async #requireAsLeased(): Promise<void> {
    if (this.#queue.length === 0 || this.#sending.size >= PARALLEL) return;
    const { ports, tenantId, webhook } = this;
    const check = (transaction: Transaction) => isAsLeased(transaction, webhook);
    if (!(await runAsTenant(ports.database, tenantId, DELIVERY_LIMITS, check))) this.#isCut = true;
  }

  #look(): Promise<void> {
    this.#looking ??= delay(LOOK_MS, undefined, { ref: false }).then(() => (this.#looking = undefined));
    return this.#looking;
  }

  #begin(delivery: DeliveryRecord, signer: Signer): void {
    const key = resourceKey(delivery);
    this.#busy.add(key);
    const sending: Promise<void> = this.#deliver(delivery, signer)
      .then(
        () => void this.#busy.delete(key),
        (error: unknown) => void (this.#failure ??= { error }),
      )
      .finally(() => this.#sending.delete(sending));
    this.#sending.add(sending);
  }

  async #deliver(delivery: DeliveryRecord, signer: Signer): Promise<void> {
    const { ports, tenantId } = this;
    if ((await ports.judge(delivery, tenantId)) === "DROP") return recordDrop(tenantId, delivery, ports);
    if (this.#isOver) return;
    const began = performance.now();
    const attempt = await ports.sender.send(signer.sign(delivery), this.stop);
    if ("failure" in attempt && attempt.failure === "STOPPED") return;
    const recorded = await recordAttempt(tenantId, delivery, attempt, performance.now() - began, ports);
    if (recorded === "ACCEPTED") this.#isAnswering = true;
    else this.#failures += 1;
    if (recorded === "DISABLED") this.#isOver = true;
  }
}
