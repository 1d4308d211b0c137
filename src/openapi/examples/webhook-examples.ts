import { example, exampleOf, type RequestExamples, UNKNOWN_ID } from "./request-example.js";

const webhook = { example: "CreateWebhook", member: "webhook.webhookId" } as const;

/** Examples of the operations on webhooks. */
export const webhookExamples: RequestExamples = {
  CreateWebhook: example({
    url: "https://receiver.example.com/cupo",
    resourceTypes: ["APPOINTMENT", "WAITLIST_ENTRY"],
    eventTypes: ["cupo.appointment.created", "cupo.appointment.updated"],
  }),
  GetWebhook: exampleOf("webhookId", webhook),
  ListWebhooks: example({ pageSize: 20 }),
  UpdateWebhook: exampleOf("webhookId", webhook, { state: "PAUSED", expectedVersion: 1 }),
  DeleteWebhook: exampleOf("webhookId", webhook, { expectedVersion: 1 }),
  RotateWebhookSecret: exampleOf("webhookId", webhook, { expectedVersion: 1 }),
  TestWebhook: exampleOf("webhookId", webhook),
  ListWebhookDeliveries: exampleOf("webhookId", webhook, { state: "PENDING", pageSize: 20 }),
  ReplayWebhook: {
    request: { webhookId: UNKNOWN_ID, cursor: "AQ", expectedVersion: 1 },
    taken: { webhookId: webhook, cursor: { example: "ListEvents", member: "nextCursor" } },
  },
};
