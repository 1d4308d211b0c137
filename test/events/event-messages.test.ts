import { expect, test } from "vitest";
import { Event_ResourceType } from "../../src/gen/cupo/clinic/v1/event_pb.js";
import { resourceTypeOf, toEvent } from "../../src/services/events/event-messages.js";

const event = {
  position: 1,
  eventId: "00000000-0000-4000-8000-000000000001",
  occurredAt: new Date(0),
  action: "CREATE",
  resourceType: "Location",
  resourceId: "00000000-0000-4000-8000-000000000002",
  resourceVersion: 1,
  correlationId: "00000000-0000-4000-8000-000000000003",
  organizationId: undefined,
  companyId: undefined,
} as const;

test("all watches share one message of an event", () => {
  expect(toEvent(event, "a tenant")).toBe(toEvent(event, "a tenant"));
});

test("a resource of a later release has no known type", () => {
  expect(resourceTypeOf(event)).toBe(Event_ResourceType.LOCATION);
  expect(resourceTypeOf({ resourceType: "Spaceship" })).toBe(Event_ResourceType.RESOURCE_TYPE_UNSPECIFIED);
});
