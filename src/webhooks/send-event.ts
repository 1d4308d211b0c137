import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { createGuardedLookup, type ResolveHost } from "./guarded-lookup.js";
import type { ReceiverPolicy } from "./receiver-policy.js";
import { failureOf, type SendFailure } from "./send-failures.js";

/**
 * The result of one attempt to send an event: the HTTP status of the answer, or why there was no answer. STOPPED: the
 * process stops, and it is unknown whether the event arrived.
 */
export type Attempt = { readonly status: number } | { readonly failure: SendFailure | "STOPPED" };

/** An event to send. */
export interface SignedEvent {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends events to receivers. */
export interface Sender {
  /** Sends an event by POST and returns the status of the answer, or why there was none. Never rejects. */
  send(event: SignedEvent, stop: AbortSignal): Promise<Attempt>;
  /** Closes the connections that are kept for reuse. Call this when no event is being sent. */
  close(): void;
}

/** Options of {@link openSender}. `timeoutMs` defaults to {@link SEND_TIMEOUT_MS}. */
export interface SenderOptions {
  readonly policy: ReceiverPolicy;
  readonly resolve: ResolveHost;
  readonly timeoutMs?: number | undefined;
}

/**
 * The time limit of one attempt, in milliseconds. It includes connecting and reading the answer's body. If the event is
 * sent once more ({@link openSender}), the time limit applies to both requests together.
 */
export const SEND_TIMEOUT_MS = 10_000;
/** The highest number of bytes of an answer's headers that are read. The same limit applies to its body. */
const MAX_ANSWER_BYTES = 16 * 1_024;
const MAX_FREE_SOCKETS = 64;
const IDLE_MS = 5_000;

/**
 * Opens a sender. It follows no redirects and uses no proxy. Only the status of an answer matters. The body is read up
 * to 16 KiB and discarded, so that the connection can be used again. If a reused connection breaks without an answer,
 * sends the event once more over a new connection.
 */
export function openSender({ policy, resolve, timeoutMs = SEND_TIMEOUT_MS }: SenderOptions): Sender {
  const options = { keepAlive: true, maxFreeSockets: MAX_FREE_SOCKETS, timeout: IDLE_MS };
  const agents = { "https:": new HttpsAgent(options), "http:": new HttpAgent(options) };
  const lookup = createGuardedLookup(policy, resolve);
  return {
    async send(event, stop) {
      if (policy.refusalOf(event.url) !== undefined) return { failure: "ADDRESS_REFUSED" };
      const endsAt = performance.now() + timeoutMs;
      const post = (agent: HttpAgent | false) =>
        postOnce(event, { agent, lookup, timeoutMs: Math.max(0, endsAt - performance.now()), stop });
      const protocol = new URL(event.url).protocol === "https:" ? "https:" : "http:";
      const first = await post(agents[protocol]);
      const last = first.isStale ? await post(false) : first;
      return last.attempt;
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

interface PostOptions {
  /** False for a new connection that is used once. */
  readonly agent: HttpAgent | false;
  readonly lookup: ReturnType<typeof createGuardedLookup>;
  readonly timeoutMs: number;
  readonly stop: AbortSignal;
}

/** `isStale`: the connection had been used before and broke without an answer. */
interface Posted {
  readonly attempt: Attempt;
  readonly isStale: boolean;
}

function postOnce({ url, headers, body }: SignedEvent, options: PostOptions): Promise<Posted> {
  const { agent, lookup, timeoutMs, stop } = options;
  const ending = new AbortController();
  const end = () => ending.abort();
  const timer = setTimeout(end, timeoutMs);
  stop.addEventListener("abort", end, { once: true });
  return new Promise((resolve) => {
    const send = url.startsWith("https:") ? requestHttps : requestHttp;
    const length = Buffer.byteLength(body);
    const request = send(url, {
      method: "POST",
      agent,
      lookup,
      signal: ending.signal,
      maxHeaderSize: MAX_ANSWER_BYTES,
      headers: { ...headers, "content-length": length },
    });
    request.on("error", (error) => {
      if (stop.aborted) return resolve({ attempt: { failure: "STOPPED" }, isStale: false });
      const failure = ending.signal.aborted ? "TIMED_OUT" : failureOf(error);
      resolve({ attempt: { failure }, isStale: failure === "CONNECTION_FAILED" && request.reusedSocket });
    });
    request.on("response", (response) => {
      readAway(response);
      resolve({ attempt: { status: response.statusCode ?? 0 }, isStale: false });
    });
    // Node reports no error and no response if the receiver switches to another protocol (101).
    request.on("close", () => {
      clearTimeout(timer);
      stop.removeEventListener("abort", end);
      resolve({ attempt: { failure: "ANSWER_INVALID" }, isStale: false });
    });
    if (stop.aborted) end();
    request.end(body);
  });
}

/** Reads an answer and discards it. Closes the connection if the answer is too long. */
function readAway(response: IncomingMessage): void {
  let length = 0;
  response.on("data", (part: Buffer) => {
    length += part.length;
    if (length > MAX_ANSWER_BYTES) response.destroy();
  });
  response.on("error", () => undefined);
}
