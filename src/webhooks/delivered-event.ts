import { createMessageWriter } from "@cupo/connect-rest/strict-json";
import { EventSchema } from "../gen/cupo/clinic/v1/event_pb.js";
import type { DeliveredEvent } from "../postgres/tables/webhooks/webhook-deliveries.js";
import { eventMessage } from "../services/events/event-messages.js";

const write = createMessageWriter(EventSchema);

/** Returns the body of a delivery: the event as JSON, as the change feed returns it over REST. */
export function bodyOf(event: DeliveredEvent, tenantId: string): string {
  return write(eventMessage(event, tenantId));
}
