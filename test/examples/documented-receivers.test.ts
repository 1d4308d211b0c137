import { describe, expect, onTestFinished, test } from "vitest";
import { createReceiverPolicy } from "../../src/webhooks/receiver-policy.js";
import { openSender } from "../../src/webhooks/send-event.js";
import { signEvent } from "../../src/webhooks/sign-event.js";
import { newWebhookSecret } from "../../src/webhooks/webhook-secrets.js";
import { documentedReceivers, isInstalled, runReceiver } from "../webhooks/documented-receivers.js";

const BODY = JSON.stringify({ type: "cupo.location.updated", resourceId: "Bogotá", resourceVersion: 3 });
const FIVE_MINUTES_MS = 301_000;
const running = new AbortController().signal;

describe("a receiver of docs/guide/webhooks.md", () => {
  for (const receiver of documentedReceivers) {
    test.skipIf(!isInstalled(receiver))(`in ${receiver.language} accepts genuine events only`, async () => {
      const [secret, other] = [newWebhookSecret(), newWebhookSecret()];
      const { url, lines, stop } = await runReceiver(receiver, secret);
      onTestFinished(stop);
      const policy = createReceiverPolicy({ allowHttp: true, allowAddresses: ["127.0.0.0/8"] });
      const sender = openSender({ policy, resolve: () => Promise.reject(new Error("no names here")) });
      onTestFinished(() => sender.close());
      const send = (secrets: readonly string[], nowMs: number, body = BODY) =>
        sender.send({ url, body, headers: { ...signEvent("event-1", BODY, secrets, nowMs) } }, running);
      const now = Date.now();
      expect(await send([secret], now)).toEqual({ status: 204 });
      expect(await send([other, secret], now)).toEqual({ status: 204 });
      expect(await send([other], now)).toEqual({ status: 400 });
      expect(await send([secret], now, BODY.replace("3", "4"))).toEqual({ status: 400 });
      expect(await send([secret], now - FIVE_MINUTES_MS)).toEqual({ status: 400 });
      await expect.poll(() => lines).toEqual(Array(2).fill("cupo.location.updated Bogotá 3"));
    });
  }
});
