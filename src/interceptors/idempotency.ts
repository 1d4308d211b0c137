import { hash } from "node:crypto";
import { type DescMessage, type Message, toBinary } from "@bufbuild/protobuf";
import type { Interceptor, UnaryRequest, UnaryResponse } from "@connectrpc/connect";
import { type Call, callOf, type Principal, principalOf } from "../call.js";
import { type CupoError, conflict } from "../errors.js";
import { isReplicable, operationName, takesIdempotencyKey } from "../operation.js";
import { shownPatients } from "./shown-patients.js";

/** The claim of an idempotency key by one call: which key, and which request it stands for. */
export interface IdempotencyClaim {
  readonly tenantId: string;
  readonly principalId: string;
  readonly operation: string;
  /** 1 to 255 visible ASCII characters. */
  readonly key: string;
  /** SHA-256 of the request and of what else decides its meaning. */
  readonly fingerprint: Uint8Array;
  readonly correlationId: string;
}

/** How a call that claimed an idempotency key ended. */
export type Outcome =
  | { readonly kind: "EXECUTED" }
  /** A call with the same key and request did the work before; these are the bytes of its response. */
  | {
      readonly kind: "REPLAY";
      readonly response: Uint8Array;
      /** The earlier call was this one: its commit succeeded, but the connection broke before it was told so. */
      readonly isOwn: boolean;
    }
  /** The key belongs to another request. */
  | { readonly kind: "REUSED" }
  /** The key was used, and its result erased with the person whom it was about. */
  | { readonly kind: "ERASED" }
  /** Another call holds the key and did not end in time. */
  | { readonly kind: "IN_PROGRESS" };

/**
 * The store that the stage needs: runs the work in one transaction, `call.transaction`, that commits the claim, all
 * effects and the result together, or does not run it because the key is taken. A failed call leaves its key free.
 */
export interface IdempotentWork {
  execute(claim: IdempotencyClaim, call: Call, principal: Principal, work: () => Promise<Uint8Array>): Promise<Outcome>;
  /**
   * Runs a read in one transaction, `call.transaction`, without a key. It may write too, since who read what is kept, unless it
   * `isReplicable`: then a replica may do it that has everything which was committed before.
   */
  read<T>(call: Call, principal: Principal, work: () => Promise<T>, isReplicable?: boolean): Promise<T>;
}

/** Records, in the transaction of a call, that it shows the data of these patients to its principal. */
export type RecordAccess = (call: Call, patientIds: readonly string[]) => void;

/** For how long a key gives its first result. The database refuses to purge keys of less than a day, whatever stands here. */
export const KEY_RETENTION_HOURS = 72;

const RETRY_AFTER = { "Retry-After": "1" };

/**
 * Runs an operation once for each idempotency key of a principal, and gives the first response to every later call with
 * the same key and request, marked by `Idempotent-Replayed: true` (specification sections 4 and 8). An operation that
 * only reads takes no key and is run each time.
 *
 * A replay goes on to the implementation, which `answering-calls.ts` makes answer with what is stored: the way back
 * through the protocol is that of every other answer. One that shows a patient leaves an access record before: the first
 * answer was to whoever made the change, which the audit trail has, but a replay is a read.
 */
export function idempotency(store: IdempotentWork, recordAccess: RecordAccess): Interceptor {
  return (next) => async (request) => {
    if (request.stream) return next(request);
    const call = callOf(request.contextValues);
    const principal = principalOf(request.contextValues);
    const { method } = request;
    if (!takesIdempotencyKey(method)) return store.read(call, principal, () => next(request), isReplicable(method));
    let executed: UnaryResponse | undefined;
    const claim = claimOf(request, call, principal);
    const outcome = await store.execute(claim, call, principal, async () => {
      const response = await next(request);
      if (response.stream) throw new Error("a unary request was answered by a stream");
      executed = response;
      return toBinary(response.method.output, response.message);
    });
    if (outcome.kind === "EXECUTED" && executed !== undefined) return executed;
    if (outcome.kind !== "REPLAY") throw keyRefusal(outcome.kind === "EXECUTED" ? "IN_PROGRESS" : outcome.kind);
    call.storedResponse = outcome.response;
    if (outcome.isOwn) return next(request);
    const shown = shownPatients(request.method.output, outcome.response);
    if (shown.length > 0) await store.read(call, principal, async () => recordAccess(call, shown));
    call.responseHeaders["Idempotent-Replayed"] = "true";
    return next(request);
  };
}

function claimOf(request: UnaryRequest, call: Call, principal: Principal): IdempotencyClaim {
  const operation = operationName(request.method);
  return {
    tenantId: principal.tenantId,
    principalId: principal.id,
    operation,
    key: call.headers.idempotencyKey[0] ?? "",
    fingerprint: fingerprint(operation, principal, request.method.input, request.message),
    correlationId: call.correlationId,
  };
}

function fingerprint(operation: string, principal: Principal, schema: DescMessage, message: Message): Uint8Array {
  const terms = Buffer.from(`${operation}\n${principal.organizationId ?? ""}\n${principal.companyId ?? ""}\n`);
  const bytes = toBinary(schema, message, { writeUnknownFields: false });
  return hash("sha256", Buffer.concat([terms, bytes]), "buffer");
}

/** 409: the key stands for another request, its result was erased, or a call with it is still at work. */
export function keyRefusal(kind: "REUSED" | "ERASED" | "IN_PROGRESS"): CupoError {
  const field = "Idempotency-Key";
  if (kind === "ERASED") {
    const message = "the result of this key was erased with the patient whom it was about; it is not done again";
    return conflict({ code: "RESULT_ERASED", field, message });
  }
  if (kind === "REUSED") {
    const message = "this key was used for another request of the same operation; use a new one";
    return conflict({ code: "IDEMPOTENCY_KEY_REUSED", field, message });
  }
  const message = "a request with this key is still being worked on; retry with the same key";
  return conflict({ code: "IDEMPOTENCY_IN_PROGRESS", field, message }, RETRY_AFTER);
}
