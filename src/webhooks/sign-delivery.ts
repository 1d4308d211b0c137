import type { DeliveryRecord } from "../postgres/tables/webhooks/webhook-deliveries.js";
import type { LeasedWebhook } from "../postgres/tables/webhooks/webhook-leases.js";
import { bodyOf } from "./delivered-event.js";
import type { DeliveryPorts } from "./delivery-ports.js";
import type { SignedEvent } from "./send-event.js";
import { signEvent } from "./sign-event.js";

/** Creates signed requests from deliveries. */
export interface Signer {
  sign(delivery: DeliveryRecord): SignedEvent;
}

/**
 * Decrypts the secret of a webhook, and its previous secret if it is still valid. Returns a signer that signs with
 * these secrets. Rejects if one of them cannot be decrypted.
 */
export async function openSigner(
  tenantId: string,
  { url, secret, formerSecret, formerSecretUntil }: LeasedWebhook,
  { vault, now }: Pick<DeliveryPorts, "vault" | "now">,
): Promise<Signer> {
  const isFormerValid = formerSecretUntil !== undefined && formerSecretUntil.getTime() > now();
  const sealed = formerSecret === undefined || !isFormerValid ? [secret] : [secret, formerSecret];
  const secrets = (await Promise.all(sealed.map((each) => vault.open(each)))).map((bytes) =>
    Buffer.from(bytes).toString(),
  );
  return {
    sign(delivery) {
      const body = bodyOf(delivery, tenantId);
      const signed = signEvent(delivery.eventId, body, secrets, now());
      return { url, body, headers: { ...signed, "content-type": "application/json", "user-agent": "cupo-webhooks/1" } };
    },
  };
}
