import type { Interceptor } from "@connectrpc/connect";
import { tracedJudgement, tracedReading, tracedWork } from "../telemetry/traces/traced-stages.js";
import { authentication, type TokenVerifier } from "./authentication.js";
import { authorization } from "./authorization.js";
import { callsAtWork, overload, type TurnAway, type Workplaces } from "./calls-at-work.js";
import { type IdempotentWork, idempotency, type RecordAccess } from "./idempotency.js";
import { loopTurns } from "./loop-turns.js";
import { type PageSeal, pageTokens } from "./page-tokens.js";
import { type RateLimiter, rateLimit, rowQuota } from "./rate-limit.js";
import { redaction } from "./redaction.js";
import { requestHeaders } from "./request-headers.js";
import { responseHeaders } from "./response-headers.js";
import { streamLife } from "./stream-life.js";
import { isScreened } from "./validation/screen-message.js";
import { type ListErrors, type MessageValidator, validation } from "./validation/validation.js";

/** What the stages need from outside. */
export interface ChainPorts {
  readonly verifyToken: TokenVerifier;
  readonly rateLimiter: RateLimiter;
  readonly validate: MessageValidator;
  readonly listErrors: ListErrors;
  readonly places: Workplaces;
  /** The places of open streams. */
  readonly streams: Workplaces;
  readonly turnAway: TurnAway;
  /** Aborts, with the error that streams end with, when the service stops. */
  readonly stopping: AbortSignal;
  readonly store: IdempotentWork;
  readonly recordAccess: RecordAccess;
  readonly pages: PageSeal;
  /** Whether calls have traces, which the stages then tell how long they take; they do not unless given. */
  readonly isTraced?: boolean;
}

/** The stages of a call, outermost first. */
export interface Chain {
  /** Need only the headers: over REST they run before a byte of the body is read. */
  readonly onHeaders: readonly Interceptor[];
  /** Need the request message. */
  readonly onMessage: readonly Interceptor[];
}

/**
 * The one statement of the order in which a call is judged, the same on every transport: who it is, how often, whether anything can be
 * done for it now, whether it may, whether its headers and its message are right, what the rows that it asks for count, whether there is a place for it to work, when a stream ends, whether
 * it was done before, where the page that it asks for begins. docs/lifecycle.md draws it.
 */
export function createChain(ports: ChainPorts): Chain {
  const { verifyToken, rateLimiter, validate, listErrors, places, streams, turnAway } = ports;
  const { store, recordAccess, pages, isTraced = false } = ports;
  const judging = (name: string, stage: Interceptor) => (isTraced ? tracedJudgement(name, stage) : stage);
  const reading = isTraced ? tracedReading("message") : undefined;
  return {
    onHeaders: [
      responseHeaders(),
      judging("authentication", authentication(verifyToken)),
      judging("quota", rateLimit(rateLimiter)),
      overload(places, turnAway),
      authorization(),
      requestHeaders(),
      ...(reading === undefined ? [] : [reading.begin]),
    ],
    onMessage: [
      ...(reading === undefined ? [] : [reading.end]),
      loopTurns(isScreened),
      judging("validation", validation(validate, listErrors)),
      rowQuota(rateLimiter),
      redaction(),
      judging("place", callsAtWork(places, streams, turnAway)),
      streamLife(verifyToken, ports.stopping),
      isTraced ? tracedWork("transaction", idempotency(store, recordAccess)) : idempotency(store, recordAccess),
      pageTokens(pages),
    ],
  };
}
