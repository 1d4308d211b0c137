import { Webhook } from "standardwebhooks";

/** The headers that Standard Webhooks defines for each request. */
export interface SignedHeaders {
  readonly "webhook-id": string;
  /** Seconds since the epoch. */
  readonly "webhook-timestamp": string;
  /** One signature for each secret, separated by spaces. */
  readonly "webhook-signature": string;
}

/**
 * Signs a body with each secret and returns the headers. A receiver accepts the body if it knows one of the secrets.
 */
export function signEvent(eventId: string, body: string, secrets: readonly string[], nowMs: number): SignedHeaders {
  const at = new Date(nowMs);
  return {
    "webhook-id": eventId,
    "webhook-timestamp": String(Math.floor(nowMs / 1_000)),
    "webhook-signature": secrets.map((secret) => new Webhook(secret).sign(eventId, at, body)).join(" "),
  };
}
