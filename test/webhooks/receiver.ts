import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { vi } from "vitest";

/** An event as a receiver gets it. */
export interface ReceivedEvent {
  readonly eventId: string;
  readonly type: string;
  readonly subject: string;
  readonly resourceId: string;
  readonly resourceVersion?: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** How a receiver answers an event: with a status, or not at all. */
export type Behaviour = (event: ReceivedEvent) => number | "STALL" | Promise<number | "STALL">;

/** A receiver of webhooks. */
export interface Receiver {
  readonly url: string;
  /** The events that were answered with 200 to 299, in the order of their answers. */
  readonly accepted: readonly ReceivedEvent[];
  /** All events, in the order of their arrival. */
  readonly arrived: readonly ReceivedEvent[];
  /** The highest number of events that were with the receiver at once. */
  readonly mostAtOnce: number;
  /** The resources of which two events were with the receiver at once. */
  readonly overlapping: readonly string[];
  behave(behaviour: Behaviour): void;
  close(): Promise<void>;
}

/** Settings that allow receivers of tests. */
export const RECEIVERS_ALLOWED = { WEBHOOK_ALLOW_HTTP: "on", WEBHOOK_ALLOW_ADDRESSES: "127.0.0.0/8 ::1/128" };

/** Starts a receiver that answers 204 until it is told otherwise. */
export async function startReceiver(): Promise<Receiver> {
  let behaviour: Behaviour = () => 204;
  const [accepted, arrived]: [ReceivedEvent[], ReceivedEvent[]] = [[], []];
  const present = new Map<string, number>();
  const overlapping: string[] = [];
  let [atOnce, mostAtOnce] = [0, 0];
  const take = async (event: ReceivedEvent, response: ServerResponse) => {
    arrived.push(event);
    const ofResource = (present.get(event.subject) ?? 0) + 1;
    present.set(event.subject, ofResource);
    if (ofResource > 1) overlapping.push(event.subject);
    atOnce += 1;
    mostAtOnce = Math.max(mostAtOnce, atOnce);
    let isGone = false;
    const leave = () => {
      if (isGone) return;
      isGone = true;
      atOnce -= 1;
      present.set(event.subject, (present.get(event.subject) ?? 1) - 1);
    };
    response.on("close", leave);
    const answer = await behaviour(event);
    if (answer === "STALL") return;
    if (answer >= 200 && answer < 300) accepted.push(event);
    leave();
    response.writeHead(answer, answer === 302 ? { location: "/elsewhere" } : {}).end();
  };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const text = Buffer.concat(parts).toString();
      void take({ ...JSON.parse(text), headers: request.headers, text }, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    accepted,
    arrived,
    overlapping,
    get mostAtOnce() {
      return mostAtOnce;
    },
    behave(next) {
      behaviour = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * Verifies the signature of an event with the library of Standard Webhooks, at a time in milliseconds since the epoch.
 * Throws if it is wrong.
 */
export function verify({ text, headers }: ReceivedEvent, secret: string, nowMs: number): unknown {
  const signed = Object.fromEntries(
    ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => [name, String(headers[name])]),
  );
  const clock = vi.spyOn(Date, "now").mockReturnValue(nowMs);
  try {
    return new Webhook(secret).verify(text, signed);
  } finally {
    clock.mockRestore();
  }
}
