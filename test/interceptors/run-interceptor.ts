import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import type { Interceptor, UnaryRequest, UnaryResponse } from "@connectrpc/connect";
import { type Call, type CallHeaders, callOf, type Principal } from "../../src/call.js";
import { CupoError } from "../../src/errors.js";
import type { Stage } from "../../src/interceptors/stage.js";
import { valuesOf } from "../../src/open-call.js";

/** Properties of a test call before the interceptor runs. */
export interface CallInit {
  readonly headers?: Partial<CallHeaders>;
  readonly principal?: Partial<Principal>;
}

/** The request and the result of a run. */
export interface Run {
  readonly call: Call;
  readonly request: UnaryRequest;
  /** The requests that reached the next interceptor. */
  readonly passed: readonly UnaryRequest[];
  readonly response: UnaryResponse;
}

export const tenantId = "7d0f3f5e-6f0c-4d6b-9a53-0c2b6a0f1e11";
export const correlationId = "5f2b1c9e-0d4a-4c0e-8a51-2f4f6c1b7a90";

/** Returns a principal of {@link tenantId} without scopes, with changes. */
export function principalWith(changes: Partial<Principal> = {}): Principal {
  return {
    id: "https://id.example.org booking-bot",
    issuer: "https://id.example.org",
    clientId: "booking-bot",
    tenantId,
    organizationId: undefined,
    companyId: undefined,
    scopes: new Set(),
    ...changes,
  };
}

/** Returns a call of an authenticated principal with these headers. */
export function callWith({ headers = {}, principal }: CallInit = {}): Call {
  return {
    correlationId,
    headers: { authorization: [], idempotencyKey: ["key-1"], correlationId: [], actorId: [], ...headers },
    startedAt: performance.now(),
    responseHeaders: {},
    effects: [],
    newId: () => "an id",
    principal: principalWith(principal),
  };
}

/** Returns the request of a call, as a transport passes it to the first interceptor. */
export function requestOf<I extends DescMessage>(
  method: DescMethodUnary<I>,
  message: MessageInitShape<I>,
  call: Call = callWith(),
): UnaryRequest {
  return {
    stream: false,
    service: method.parent,
    method,
    message: create(method.input, message),
    requestMethod: "POST",
    url: `https://api.example.org/${method.parent.typeName}/${method.name}`,
    signal: new AbortController().signal,
    header: new Headers(),
    contextValues: valuesOf(call),
  };
}

/** Returns the interceptor of a stage for a method. It passes on if the method does not need the stage. */
export function interceptorOf(stage: Stage, method: DescMethod): Interceptor {
  return stage(method) ?? ((next) => next);
}

/** Runs one stage. The next stage answers with `output`, by default an empty message. */
export async function run(
  stage: Stage,
  request: UnaryRequest,
  output: UnaryResponse["message"] = create(request.method.output),
): Promise<Run> {
  const passed: UnaryRequest[] = [];
  const response = await interceptorOf(
    stage,
    request.method,
  )(async (arrived) => {
    if (arrived.stream) throw new Error("not unary");
    passed.push(arrived);
    return responseOf(arrived, output);
  })(request);
  if (response.stream) throw new Error("not unary");
  return { call: callOf(request.contextValues), request, passed, response };
}

/** Returns a response to a request. */
export function responseOf({ service, method }: UnaryRequest, message: UnaryResponse["message"]): UnaryResponse {
  return { stream: false, service, method, header: new Headers(), trailer: new Headers(), message };
}

/** Returns the CupoError that a promise rejects with. */
export async function refusal(promise: Promise<unknown>): Promise<CupoError> {
  const error = await promise.then(
    () => new Error("nothing was refused"),
    (reason: unknown) => reason,
  );
  if (error instanceof CupoError) return error;
  throw error;
}
