import { memoized } from "../memoized.js";
import { tracedJudgement, tracedReading, tracedWork } from "../telemetry/traces/traced-stages.js";
import { authentication, type TokenVerifier } from "./authentication.js";
import { authorization } from "./authorization.js";
import { type ConcurrencyLimiter, concurrencyLimit, loadShedding, type PaceRejection } from "./concurrency-limit.js";
import { type IdempotentWork, idempotency, type RecordAccess, type ResultSeal } from "./idempotency.js";
import { loopTurns } from "./loop-turns.js";
import { type PageSeal, pageTokens } from "./page-tokens.js";
import { type RateLimiter, rateLimit, rowQuota } from "./rate-limit.js";
import { redaction } from "./redaction.js";
import { requestHeaders } from "./request-headers.js";
import { responseHeaders } from "./response-headers.js";
import type { NamedStage, Stage } from "./stage.js";
import { streamLife } from "./stream-life.js";
import { hasLongText } from "./validation/screen-message.js";
import { type ListErrors, type MessageValidator, validation } from "./validation/validation.js";

/** The dependencies of the stages of a {@link Chain}. */
export interface ChainPorts {
  readonly verifyToken: TokenVerifier;
  readonly rateLimiter: RateLimiter;
  readonly validate: MessageValidator;
  readonly listErrors: ListErrors;
  readonly calls: ConcurrencyLimiter;
  readonly streams: ConcurrencyLimiter;
  readonly paceRejection: PaceRejection;
  /** Aborts when the service stops. The reason of the abort is the error with which open streams end. */
  readonly stopping: AbortSignal;
  readonly store: IdempotentWork;
  readonly recordAccess: RecordAccess;
  readonly resultSeal: ResultSeal;
  readonly pages: PageSeal;
  /** Whether the stages record their durations in traces. Defaults to false. */
  readonly isTraced?: boolean;
}

/** The stages of a call, outermost first. A method has only the stages that it needs. */
export interface Chain {
  /** Stages that need only the headers. Over REST they run before any byte of the body is read. */
  readonly onHeaders: readonly NamedStage[];
  /** Stages that need the request message. */
  readonly onMessage: readonly NamedStage[];
}

/**
 * Creates the stages that calls pass. Their order is the same for RPC and REST. Listeners of the clinic's API add the
 * stage `actor` after `onHeaders`. Each stage creates one interceptor per method, at most once.
 * docs/internals/lifecycle.md says what each stage does.
 */
export function createChain(ports: ChainPorts): Chain {
  const { verifyToken, rateLimiter, validate, listErrors, calls, streams, paceRejection, isTraced = false } = ports;
  const judging = (name: string, stage: Stage) => ({ name, stage: isTraced ? tracedJudgement(name, stage) : stage });
  const working = (name: string, stage: Stage) => ({ name, stage: isTraced ? tracedWork(name, stage) : stage });
  const reading = isTraced ? tracedReading("message") : undefined;
  const onHeaders = [
    { name: "response headers", stage: responseHeaders() },
    judging("authentication", authentication(verifyToken)),
    judging("quota", rateLimit(rateLimiter)),
    { name: "load shedding", stage: loadShedding(calls, paceRejection) },
    { name: "authorization", stage: authorization() },
    { name: "request headers", stage: requestHeaders() },
    ...(reading === undefined ? [] : [{ name: "trace of the message", stage: reading.begin }]),
  ];
  const onMessage = [
    ...(reading === undefined ? [] : [{ name: "trace of the message", stage: reading.end }]),
    { name: "loop turns", stage: loopTurns(hasLongText) },
    judging("validation", validation(validate, listErrors)),
    { name: "row quota", stage: rowQuota(rateLimiter) },
    { name: "redaction", stage: redaction() },
    judging("permit", concurrencyLimit(calls, streams, paceRejection)),
    { name: "stream life", stage: streamLife(verifyToken, ports.stopping) },
    working("transaction", idempotency(ports.store, ports.recordAccess, ports.resultSeal)),
    { name: "page tokens", stage: pageTokens(ports.pages) },
  ];
  return { onHeaders: onHeaders.map(compiledOnce), onMessage: onMessage.map(compiledOnce) };
}

function compiledOnce({ name, stage }: NamedStage): NamedStage {
  return { name, stage: memoized(stage) };
}
