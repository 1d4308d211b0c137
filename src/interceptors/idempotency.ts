import { hash } from "node:crypto";
import { type DescMessage, type DescMethod, type Message, toBinary } from "@bufbuild/protobuf";
import type { Interceptor, UnaryResponse } from "@connectrpc/connect";
import { type Call, callOf, type Principal, principalOf } from "../call.js";
import { type CupoError, conflict } from "../errors.js";
import { isReplicable, operationName, operationOf, takesIdempotencyKey } from "../operation.js";
import { type ShownPatients, shownPatientsOf } from "./shown-patients.js";
import type { Stage } from "./stage.js";

/** The data with which a call claims (reserves) an idempotency key. */
export interface IdempotencyClaim {
  readonly tenantId: string;
  readonly principalId: string;
  readonly operation: string;
  /** 1 to 255 visible ASCII characters. */
  readonly key: string;
  /**
   * SHA-256 of the operation, the organization and company of the caller, and the request message. Another fingerprint
   * with the same key means another request.
   */
  readonly fingerprint: Uint8Array;
  readonly correlationId: string;
}

/** The result of a call with an idempotency key. */
export type Outcome =
  | { readonly kind: "EXECUTED" }
  /** An earlier call with the same key and request was executed. `response` is its encoded response. */
  | {
      readonly kind: "REPLAY";
      readonly response: Uint8Array;
      /**
       * Whether the earlier call is an earlier attempt of this same call. If so, the COMMIT of that attempt succeeded,
       * but the connection broke before the answer arrived.
       */
      readonly isOwn: boolean;
    }
  /** The key was used for another request. */
  | { readonly kind: "REUSED" }
  /** The key was used, and its result was erased together with a patient. */
  | { readonly kind: "ERASED" }
  /** Another call holds the key and did not end in time. */
  | { readonly kind: "IN_PROGRESS" };

/**
 * Runs calls in transactions for the {@link idempotency} stage. `execute` runs the work in one transaction,
 * `call.transaction`. This transaction also commits the claim of the key and the result.
 * - If another call has already claimed the key, the statements of the work have no effect, and its result is
 *   discarded.
 * - If a call fails, its key stays free.
 */
export interface IdempotentWork {
  execute(claim: IdempotencyClaim, call: Call, principal: Principal, work: () => Promise<Uint8Array>): Promise<Outcome>;
  /**
   * Runs a read with `call.transaction`, without an idempotency key. If `isReplicable` is false, the read may write
   * access records. If it is true, the read writes nothing, and a replica with all earlier commits may run it.
   */
  read<T>(call: Call, principal: Principal, work: () => Promise<T>, isReplicable?: boolean): Promise<T>;
}

/** Records that the principal of a call reads the data of these patients, in the transaction of the call. */
export type RecordAccess = (call: Call, shown: ShownPatients) => Promise<void>;

/** Encrypts and decrypts stored results that contain a secret. */
export interface ResultSeal {
  seal(result: Uint8Array): Uint8Array;
  /** Decrypts a result of `seal`. Rejects if the result cannot be decrypted. */
  open(sealed: Uint8Array): Promise<Uint8Array>;
}

/** Hours for which a key returns its first result. A database policy prevents a purge of keys younger than 24 hours. */
export const KEY_RETENTION_HOURS = 72;

const RETRY_AFTER = { "Retry-After": "1" };

/**
 * Runs an operation once for each idempotency key. A key belongs to one principal and one operation. If a call fails,
 * its key stays free, so that the next call runs the operation. Otherwise, a later call with the same key has one of
 * these results:
 * - the first response, with the header `Idempotent-Replayed: true`, if its request is the same (specification sections
 *   4 and 8)
 * - 409 ({@link keyRefusal}), if its request is different, if the first call still runs or if the first result was
 *   erased
 * - 409 TENANT_SUSPENDED, if the tenant is not active now
 *
 * The function `answeringCalls` returns the stored first response in place of the implementation. If the response shows
 * a patient, the later call also records an access. The first call needs no such record, because the audit trail has
 * the change that it made.
 *
 * Operations that only read take no key and always run. Throws for an operation whose stored result must be encrypted,
 * if there is no `resultSeal`.
 */
export function idempotency(store: IdempotentWork, recordAccess: RecordAccess, resultSeal?: ResultSeal): Stage {
  return (method) => {
    if (method.methodKind !== "unary") return undefined;
    if (!takesIdempotencyKey(method)) return reading(isReplicable(method), store);
    const seal = operationOf(method).sealedResult ? resultSeal : unsealed;
    if (seal === undefined) throw new Error(`${operationName(method)} needs a seal for its stored results`);
    return once(method, store, recordAccess, seal);
  };
}

const unsealed: ResultSeal = { seal: (result) => result, open: async (result) => result };

function reading(replicable: boolean, store: IdempotentWork): Interceptor {
  return (next) => async (request) => {
    const { contextValues } = request;
    return store.read(callOf(contextValues), principalOf(contextValues), () => next(request), replicable);
  };
}

function once(
  method: DescMethod,
  store: IdempotentWork,
  recordAccess: RecordAccess,
  { seal, open }: ResultSeal,
): Interceptor {
  const claimOf = claimsOf(method);
  const shownPatients = shownPatientsOf(method.output);
  return (next) => async (request) => {
    if (request.stream) throw new Error("a message was called by a stream");
    const call = callOf(request.contextValues);
    const principal = principalOf(request.contextValues);
    let executed: UnaryResponse | undefined;
    const outcome = await store.execute(claimOf(request.message, call, principal), call, principal, async () => {
      const response = await next(request);
      if (response.stream) throw new Error("a unary request was answered by a stream");
      executed = response;
      return seal(toBinary(method.output, response.message));
    });
    if (outcome.kind === "EXECUTED" && executed !== undefined) return executed;
    if (outcome.kind !== "REPLAY") throw keyRefusal(outcome.kind === "EXECUTED" ? "IN_PROGRESS" : outcome.kind);
    const stored = await open(outcome.response);
    call.storedResponse = stored;
    if (outcome.isOwn) return next(request);
    const shown = shownPatients(stored);
    if (shown.patientIds.length + shown.appointmentIds.length > 0)
      await store.read(call, principal, () => recordAccess(call, shown));
    call.responseHeaders["Idempotent-Replayed"] = "true";
    return next(request);
  };
}

function claimsOf(method: DescMethod): (message: Message, call: Call, principal: Principal) => IdempotencyClaim {
  const operation = operationName(method);
  return (message, { headers, correlationId }, principal) => {
    const [key = ""] = headers.idempotencyKey;
    const { tenantId, id: principalId } = principal;
    const print = fingerprint(operation, principal, method.input, message);
    return { tenantId, principalId, operation, key, fingerprint: print, correlationId };
  };
}

function fingerprint(operation: string, principal: Principal, schema: DescMessage, message: Message): Uint8Array {
  const scope = Buffer.from([operation, principal.organizationId, principal.companyId, ""].join("\n"));
  const bytes = toBinary(schema, message, { writeUnknownFields: false });
  return hash("sha256", Buffer.concat([scope, bytes]), "buffer");
}

/**
 * Returns an error with status 409: the key was used for another request, its result was erased, or a call with the key
 * still runs.
 */
export function keyRefusal(kind: "REUSED" | "ERASED" | "IN_PROGRESS"): CupoError {
  const field = "Idempotency-Key";
  if (kind === "ERASED") {
    const message = "the result of this key was erased together with its patient; the request is not run again";
    return conflict({ code: "RESULT_ERASED", field, message });
  }
  if (kind === "REUSED") {
    const message = "this key was used for another request of the same operation; use a new one";
    return conflict({ code: "IDEMPOTENCY_KEY_REUSED", field, message });
  }
  const message = "another request with this key is still running; retry with the same key";
  return conflict({ code: "IDEMPOTENCY_IN_PROGRESS", field, message }, RETRY_AFTER);
}
