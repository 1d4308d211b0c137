import { randomInt, randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { takesIdempotencyKey } from "../../src/operation.js";
import { rpcNamed } from "../contract/published-operations.js";
import { brokenAppointments } from "../linearizability/appointment-register.js";
import { openBookingHistory } from "../linearizability/booking-history.js";
import type { Send } from "../schedule/storm-terms.js";
import { deferred } from "../support/deferred.js";
import type { RestAnswer } from "../support/rest-request.js";
import { callRpc } from "../support/rpc.js";
import type { TestService } from "../support/service.js";
import { hasPauses } from "./beat.js";
import { isInProgress, isPutOff } from "./persist.js";

/** A request that takes an idempotency key, and what is known of it. */
export interface Entry {
  readonly rpc: string;
  readonly request: JsonObject;
  readonly key: string;
  /** The correlation id of each time that it was sent. */
  readonly correlationIds: string[];
  /** When it was sent first, by performance.now; again, after a refusal. */
  calledAt: number;
  /** The first answer that said it is done; undefined as long as none has. */
  success: RestAnswer | undefined;
}

/** What clients keep who may lose any answer. */
export interface Journal {
  readonly send: Send;
  readonly entries: readonly Entry[];
  /** What was answered by neither a success nor a refusal when it was sent first: the RPC, and the answer, if there was any. */
  readonly lost: readonly string[];
  /** What got no answer at all, each time that it was sent: the RPC. */
  readonly unanswered: readonly string[];
  /** The answers that were errors of the service other than that it is unavailable for a while. */
  readonly faults: readonly string[];
  /** Sends an entry until its outcome is known, or patience ends. */
  persist(entry: Entry): Promise<RestAnswer>;
  /** Notes what became of an entry at last. */
  settle(entry: Entry, answer: RestAnswer): void;
  /** The appointments of which was told what no order of the calls can make true; entries without an outcome may be done. */
  contradictions(): string[];
  /** Keeps what is to be sent for the first time until `work` is over; a storm then leaves the machine to what is started in it. */
  pauseDuring<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when so many more requests are done than now. */
  more(successes: number): Promise<void>;
}

type Some<T> = readonly [T, ...T[]];

/** Of so many requests whose answer was lost, one is left for the end; the others are sent again under their keys. */
const LEFT = 4;
/** How often a request is sent again at most, where it is worked on still or there is no answer. */
const PATIENCE = 50;
const NO_ANSWER: RestAnswer = { status: 0, headers: new Headers(), text: "", body: {} };

/**
 * Sends requests to any of some services, with these headers on top, and keeps those that have an effect. `recovery` resolves when
 * all are up.
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

/** Whether an answer says what became of the request: it is done, or refused without an effect. */
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
