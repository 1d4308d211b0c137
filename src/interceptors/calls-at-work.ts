import type { Interceptor, StreamRequest, StreamResponse, UnaryRequest } from "@connectrpc/connect";
import { principalOf } from "../call.js";
import { CupoError } from "../errors.js";
import { operationOf } from "../operation.js";

/** Who wants to work, and at what. */
export interface Worker {
  readonly tenantId: string;
  readonly principalId: string;
  /** Whether the operation is marked as heavy in the proto. */
  readonly isHeavy: boolean;
  /** Aborts when the caller goes away, who then needs no place any more. */
  readonly signal: AbortSignal;
}

/** A place that was taken: the way to leave it again, which works once. */
export type Place = () => void;

/**
 * Why there is no place: a limit of its principal, of its tenant or of heavy calls stands in the way of the call, or there is more to do
 * than the process can.
 */
export type NoPlace = "LIMIT" | "OVERLOAD";

/** The places of calls at once: of those at work, each of which has a connection to the database, or of open streams. */
export interface Workplaces {
  /** Takes a place, perhaps after a wait. */
  take(worker: Worker): Promise<Place | NoPlace>;
  /** Why a call that came now would be refused at once; undefined where it would work or wait. */
  refusalOf(worker: Omit<Worker, "signal">): NoPlace | undefined;
}

/** Makes the error of a call that gets no place, and may take its time for it. */
export type TurnAway = (why: NoPlace) => Promise<CupoError>;

/**
 * Lets a call work when its principal and its tenant have a place left, a heavy one when there is a place for heavy calls
 * too, and the process has a connection for it; otherwise 429 (specification section 8) or 503. It stands where calls get their
 * connection: what is refused before takes no place, a replay takes one like any other, and whichever way a call ends, its
 * place is free again. Streams, which work little and long, have places of their own, each until its end.
 */
export function callsAtWork(places: Workplaces, streams: Workplaces, turnAway: TurnAway): Interceptor {
  return (next) => async (request) => {
    const worker = { ...workerOf(request), signal: request.signal };
    const leave = await (request.stream ? streams : places).take(worker);
    if (typeof leave === "string") throw request.stream ? tooManyStreams() : await turnAway(leave);
    let isOpen = false;
    try {
      const response = await next(request);
      isOpen = response.stream;
      return response.stream ? { ...response, message: leaving(response.message, leave) } : response;
    } finally {
      if (!isOpen) leave();
    }
  };
}

/**
 * Refuses a call that {@link callsAtWork} would refuse at once, on its headers alone: under more load than the process can bear nothing
 * is done for it but to find out whose it is.
 */
export function overload(places: Workplaces, turnAway: TurnAway): Interceptor {
  return (next) => async (request) => {
    const refusal = request.stream ? undefined : places.refusalOf(workerOf(request));
    if (refusal !== undefined) throw await turnAway(refusal);
    return next(request);
  };
}

function workerOf({ contextValues, method }: UnaryRequest | StreamRequest): Omit<Worker, "signal"> {
  const { tenantId, id: principalId } = principalOf(contextValues);
  return { tenantId, principalId, isHeavy: operationOf(method).heavy };
}

async function* leaving(messages: StreamResponse["message"], leave: Place): StreamResponse["message"] {
  try {
    yield* messages;
  } finally {
    leave();
  }
}

function tooManyStreams(): CupoError {
  return new CupoError("RATE_LIMIT_EXCEEDED", {
    detail: "More streams are open for this client or tenant than may be at once.",
    headers: { "Retry-After": "1" },
    limit: "streams",
  });
}
