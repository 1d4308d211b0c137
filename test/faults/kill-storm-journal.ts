import { randomInt, randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { takesIdempotencyKey } from "../../src/operation.js";
import { rpcNamed } from "../contract/published-operations.js";
import { brokenAppointments } from "../linearizability/appointment-register.js";
import { openBookingHistory } from "../linearizability/booking-history.js";
import type { Send } from "../schedule/storm-context.js";
import { deferred } from "../support/deferred.js";
import type { RestAnswer } from "../support/rest-request.js";
import { callRpc } from "../support/rpc.js";
import type { TestService } from "../support/service.js";
import { hasPauses } from "./beat.js";
import { isInProgress, isPutOff } from "./persist.js";

/** A request with an idempotency key, and its state. */
export interface Entry {
  readonly rpc: string;
  readonly request: JsonObject;
  readonly key: string;
  /** The correlation id of each attempt. */
  readonly correlationIds: string[];
  /** When it was first sent or last got a definite answer, by performance.now. */
  calledAt: number;
  /** The first successful answer; undefined until then. */
  success: RestAnswer | undefined;
}

/** The record of clients that may lose any answer. */
export interface Journal {
  readonly send: Send;
  readonly entries: readonly Entry[];
  /** Requests whose first attempt got no definite answer: the RPC, and the answer if there was one. */
  readonly lost: readonly string[];
  /** The RPC of each attempt without any answer. */
  readonly unanswered: readonly string[];
  /** Answers with server errors, except 503 with Retry-After. */
  readonly faults: readonly string[];
  /** Sends an entry until it gets a definite answer, up to the limit of attempts. */
  persist(entry: Entry): Promise<RestAnswer>;
  /** Records the definite answer of an entry. */
  settle(entry: Entry, answer: RestAnswer): void;
  /**
   * Returns the appointments whose answers fit no order of the calls. Entries without a definite answer may or may not
   * have been executed.
   */
  contradictions(): string[];
  /** Delays new requests until `work` has finished, so that a storm does not slow down processes that start. */
  pauseDuring<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves after this many more successes. */
  more(successes: number): Promise<void>;
}

type Some<T> = readonly [T, ...T[]];

/**
 * One in this many requests with a lost answer is retried only at the end. The others are retried immediately with
 * their keys.
 */
const LEFT = 4;
/** The most attempts of a retry. */
const PATIENCE = 50;
const NO_ANSWER: RestAnswer = { status: 0, headers: new Headers(), text: "", body: {} };

/**
 * Creates a journal that sends each request to a random one of these services, with additional headers, and records
 * those with a key. `recovery` resolves when all services are up.
 */
export function openJournal(
  services: Some<TestService>,
  recovery: () => Promise<void>,
  headers: Readonly<Record<string, string>> = {},
): Journal {
  const entries: Entry[] = [];
  const faults: string[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const history = openBookingHistory();
  const open = new Set<Entry>();
  let pause = Promise.resolve();
  const lost: string[] = [];
  const unanswered: string[] = [];
  let successes = 0;
  const attempt = async (entry: Entry) => {
    const answer = await sendOnce(services[randomInt(services.length)] ?? services[0], entry, headers);
    if (answer.status >= 500 && !isPutOff(answer)) faults.push(`${entry.rpc} ${answer.text}`);
    if (answer.status === 0) unanswered.push(entry.rpc);
    return answer;
  };
  const persist = async (entry: Entry) => {
    let answer = NO_ANSWER;
    for (let tries = 0; tries < PATIENCE && !isDefinite(answer); tries++) {
      await recovery();
      answer = await attempt(entry);
    }
    return answer;
  };
  const settle = (entry: Entry, answer: RestAnswer) => {
    open.delete(entry);
    history.note(entry.rpc, entry.request, entry.calledAt, answer);
    entry.calledAt = performance.now();
    if (answer.status === 200) entry.success = answer;
  };
  const succeed = () => {
    successes += 1;
    for (const { count, resolve } of waiting) if (successes >= count) resolve();
  };
  return {
    entries,
    faults,
    lost,
    unanswered,
    persist,
    settle,
    contradictions() {
      for (const { rpc, request, calledAt } of open) history.note(rpc, request, calledAt, undefined);
      open.clear();
      return brokenAppointments(history.operations);
    },
    async pauseDuring(work) {
      const { promise, resolve } = deferred();
      if (hasPauses) pause = promise;
      return await work().finally(resolve);
    },
    more: (count) => new Promise((resolve) => waiting.push({ count: successes + count, resolve })),
    async send(rpc, request) {
      await pause;
      const calledAt = performance.now();
      const entry: Entry = { rpc, request, key: randomUUID(), correlationIds: [], calledAt, success: undefined };
      const isRead = !takesIdempotencyKey(rpcNamed(rpc));
      if (!isRead) {
        entries.push(entry);
        open.add(entry);
      }
      let answer = await attempt(entry);
      if (!isDefinite(answer)) {
        if (!isRead) lost.push(`${rpc} ${answer.status} ${answer.text}`);
        await recovery();
        if (isRead || lost.length % LEFT === 0) return NO_ANSWER;
        answer = await persist(entry);
      }
      if (isDefinite(answer)) settle(entry, answer);
      if (answer.status === 200 && !isRead) succeed();
      return answer;
    },
  };
}

/** Whether an answer is definite: the request was executed, or rejected without an effect. */
export function isDefinite(answer: RestAnswer): boolean {
  return answer.status >= 200 && answer.status < 500 && !isInProgress(answer);
}

async function sendOnce(
  service: TestService,
  { rpc, request, key, correlationIds }: Entry,
  more: Readonly<Record<string, string>>,
): Promise<RestAnswer> {
  const correlationId = randomUUID();
  correlationIds.push(correlationId);
  const headers = { ...more, "idempotency-key": key, "x-correlation-id": correlationId };
  try {
    return await callRpc(service, rpcNamed(rpc), request, { headers });
  } catch (error) {
    if (error instanceof ConnectError) return NO_ANSWER;
    throw error;
  }
}
