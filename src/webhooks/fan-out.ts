import { Event_ResourceType } from "../gen/cupo/clinic/v1/event_pb.js";
import { runAsTenant } from "../postgres/run-transaction.js";
import { type EventRecord, type FeedPage, goesOn } from "../postgres/tables/events/event-feed.js";
import { insertDeliveries, type NewDelivery } from "../postgres/tables/webhooks/webhook-deliveries.js";
import { advanceWebhook, type LeasedWebhook, type StoredCursor } from "../postgres/tables/webhooks/webhook-leases.js";
import { eventTypeOf } from "../services/events/event-messages.js";
import { type EventFilter, matchesFilter } from "../services/events/feed-request.js";
import { valueNamed } from "../services/resources/enum-names.js";
import { newId } from "../uuid.js";
import { DELIVERY_LIMITS } from "./delivery-limits.js";
import type { DeliveryPorts } from "./delivery-ports.js";

/** The highest number of events that one read of the feed returns. */
const PAGE_EVENTS = 500;

/**
 * Reads the event feed from the cursor of a leased webhook, and inserts a delivery for each event that matches the
 * filters of the webhook.
 */
export class FanOut {
  readonly #filter: EventFilter;
  #cursor: StoredCursor;
  #isLost = false;

  constructor(
    private readonly tenantId: string,
    private readonly webhook: LeasedWebhook,
    private readonly ports: Pick<DeliveryPorts, "database" | "reader" | "logger">,
  ) {
    this.#cursor = { feedId: webhook.feedId, position: webhook.position };
    const resourceTypes = webhook.resourceTypes.map((name) => valueNamed(Event_ResourceType, name));
    this.#filter = { principal: webhook, resourceTypes };
  }

  /**
   * Whether the deliveries and the cursor could not be stored. Nothing more can be stored then. These are the causes:
   * - The lease was lost.
   * - The tenant was suspended.
   * - The webhook was changed, for example its filters or its state. A replay changes its cursor.
   */
  get isLost(): boolean {
    return this.#isLost;
  }

  /**
   * Reads the next events of the feed. Inserts deliveries of the events that match the webhook's filters, together with
   * the new cursor. Returns true if the feed may have more events now. Returns false at the end of the feed, and if
   * nothing was stored because {@link FanOut.isLost} is now true.
   */
  async advance(): Promise<boolean> {
    const page = await this.ports.reader.read(this.tenantId, Number(this.#cursor.position), PAGE_EVENTS);
    if (!goesOn(page, { feedId: this.#cursor.feedId, position: Number(this.#cursor.position) }))
      return this.#beginAnew(page);
    const last = page.events.at(-1);
    if (last === undefined) return page.isOutstanding;
    return this.#store({ feedId: page.feedId, position: String(last.position) }, this.#deliveriesOf(page.events));
  }

  /**
   * Sets the cursor before the oldest stored event, because the feed was reset or events were purged before they were
   * read. Returns false if {@link FanOut.isLost} is now true.
   */
  async #beginAnew({ feedId }: FeedPage): Promise<boolean> {
    const position = await this.ports.reader.findOldest(this.tenantId);
    this.ports.logger.warn(
      { tenant: this.tenantId, webhook: this.webhook.id },
      "a webhook missed events that are no longer stored; it continues with the oldest event",
    );
    return this.#store({ feedId, position: String(position) }, []);
  }

  async #store(to: StoredCursor, deliveries: readonly NewDelivery[]): Promise<boolean> {
    const isStored = await runAsTenant(this.ports.database, this.tenantId, DELIVERY_LIMITS, async (transaction) => {
      const isMoved = await advanceWebhook(transaction, this.webhook, this.#cursor, to);
      if (isMoved) insertDeliveries(transaction, deliveries);
      return isMoved;
    });
    if (isStored) this.#cursor = to;
    else this.#isLost = true;
    return isStored;
  }

  #deliveriesOf(events: readonly EventRecord[]): NewDelivery[] {
    const { id: webhookId, eventTypes } = this.webhook;
    const deliveries: NewDelivery[] = [];
    for (const event of events) {
      const eventType = eventTypeOf(event);
      const isWanted = eventTypes.length === 0 || eventTypes.includes(eventType);
      if (isWanted && matchesFilter(event, this.#filter))
        deliveries.push({ ...event, id: newId(), webhookId, eventType });
    }
    return deliveries;
  }
}
