import { toJsonString } from "@bufbuild/protobuf";
import { EventSchema } from "../gen/cupo/clinic/v1/event_pb.js";
import type { DeliveredEvent } from "../postgres/tables/webhooks/webhook-deliveries.js";
import { eventMessage } from "../services/events/event-messages.js";

/** Returns the body of a delivery: the event as JSON, as the change feed returns it over REST. */
export function bodyOf(event: DeliveredEvent, tenantId: string): string {
  return toJsonString(EventSchema, eventMessage(event, tenantId));
}
