import { describe, expect, test } from "vitest";
import type { DeliveredEvent } from "../../src/postgres/tables/webhooks/webhook-deliveries.js";
import { bodyOf } from "../../src/webhooks/delivered-event.js";

const tenantId = "0d3e0000-0000-4000-8000-000000000001";
const event: DeliveredEvent = {
  eventId: "0d3e0000-0000-4000-8000-000000000002",
  eventType: "cupo.appointment.reminder_due",
  occurredAt: new Date("2026-03-02T13:00:00Z"),
  resourceType: "Appointment",
  resourceId: "0d3e0000-0000-4000-8000-000000000003",
  resourceVersion: 1,
  correlationId: "0d3e0000-0000-4000-8000-000000000004",
};

describe("the body of a delivery is the event as REST returns it", () => {
  test.each([
    ["2026-03-02T13:00:00Z", "2026-03-02T13:00:00.000Z"],
    ["2026-03-02T13:00:00.05Z", "2026-03-02T13:00:00.050Z"],
  ])("with three decimals in the time %s", (occurredAt, written) => {
    const body = bodyOf({ ...event, occurredAt: new Date(occurredAt) }, tenantId);
    expect(JSON.parse(body)).toEqual({
      eventId: event.eventId,
      source: `/tenants/${tenantId}`,
      specVersion: "1.0",
      type: event.eventType,
      subject: `appointment/${event.resourceId}`,
      time: written,
      resourceType: "APPOINTMENT",
      resourceId: event.resourceId,
      resourceVersion: 1,
      correlationId: event.correlationId,
    });
  });
});
