import { Code } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import type { Attributes } from "@opentelemetry/api";
import type { Call } from "../call.js";
import { errorTable } from "../errors.js";
import type { HttpRequest, HttpResponse } from "../request-log.js";
import type { CatalogedOperation, OperationCatalog } from "./operation-catalog.js";

/** The listener that received a request. */
export type ListenerName = "public" | "internal";

/**
 * The properties of a finished request for metrics and traces. All values come from finite sets; none is copied from
 * the request.
 */
export interface RequestFacts {
  readonly kind: "http" | "rpc" | "stream";
  /** Name of the span: the RPC, or the HTTP method and the route. */
  readonly name: string;
  /** Attributes by OpenTelemetry's semantic conventions for HTTP and RPC servers, and attributes of the project. */
  readonly attributes: Attributes;
  /** Name of the operation; undefined for a request that calls no known operation. */
  readonly operation: string | undefined;
  /** Whether the response repeats the response to an earlier call with the same idempotency key. */
  readonly isReplay: boolean;
  /**
   * The problem code of the response, or its HTTP or RPC status if it has no problem code. Undefined if the service is
   * not at fault, for example if the response is 404. The attribute `error.type` has the same value.
   */
  readonly errorType: string | undefined;
}

type Transport = "rest" | "connect" | "grpc" | "grpc-web";

const METHODS = new Set(["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"]);
const SERVICE_FAULTS = new Set([
  Code.Unknown,
  Code.DeadlineExceeded,
  Code.Unimplemented,
  Code.Internal,
  Code.Unavailable,
  Code.DataLoss,
]);

/** Returns the properties of a finished request. Either the service has answered it, or its caller has disconnected. */
export function factsOf(
  request: HttpRequest,
  response: HttpResponse,
  call: Call,
  listener: ListenerName,
  catalog: OperationCatalog,
): RequestFacts {
  const operation = call.operation === undefined ? undefined : catalog.get(call.operation);
  if (call.operation !== undefined && operation !== undefined && isRpc(request, call.operation)) {
    return rpcFacts(request, response, call, call.operation, operation);
  }
  return httpFacts(request, response, call, listener, operation);
}

/** Whether a request calls its operation over RPC. Over RPC, the path is the name of the operation. */
function isRpc({ url = "" }: HttpRequest, operation: string): boolean {
  return url.split("?", 1)[0] === `/${operation}`;
}

function httpFacts(
  { method = "" }: HttpRequest,
  response: HttpResponse,
  call: Call,
  listener: ListenerName,
  operation: CatalogedOperation | undefined,
): RequestFacts {
  const httpMethod = METHODS.has(method) ? method : "_OTHER";
  const status = response.headersSent ? response.statusCode : undefined;
  const isFault = status !== undefined && (status >= 500 || isFaultOf(call)) && !isExpectedRejection(call);
  const errorType = isFault ? (call.problemCode ?? String(status)) : undefined;
  const transport: Transport = "rest";
  const attributes = {
    "http.request.method": httpMethod,
    "cupo.listener": listener,
    ...(status === undefined ? {} : { "http.response.status_code": status }),
    ...(operation?.route === undefined ? {} : { "http.route": operation.route }),
    ...(operation === undefined ? {} : { "cupo.operation": call.operation, "cupo.transport": transport }),
    ...(errorType === undefined ? {} : { "error.type": errorType }),
  };
  const shownMethod = httpMethod === "_OTHER" ? "HTTP" : httpMethod;
  const name = operation?.route === undefined ? shownMethod : `${shownMethod} ${operation.route}`;
  return {
    kind: operation?.isStream === true ? "stream" : "http",
    name,
    attributes,
    operation: operation && call.operation,
    isReplay: isReplay(call),
    errorType,
  };
}

function rpcFacts(
  request: HttpRequest,
  response: HttpResponse,
  call: Call,
  name: string,
  { isStream }: CatalogedOperation,
): RequestFacts {
  const transport = rpcTransportOf(request);
  const code = call.rpcCode ?? (response.headersSent ? undefined : Code.Canceled);
  const status = statusName(code, transport);
  const isFault = code !== undefined && SERVICE_FAULTS.has(code) && !isExpectedRejection(call);
  const errorType = isFault ? (call.problemCode ?? status) : undefined;
  const attributes = {
    "rpc.system.name": transport === "connect" ? "connectrpc" : "grpc",
    "rpc.method": name,
    "rpc.response.status_code": status,
    "cupo.operation": name,
    "cupo.transport": transport,
    ...(errorType === undefined ? {} : { "error.type": errorType }),
  };
  const kind = isStream ? "stream" : "rpc";
  return { kind, name, attributes, operation: name, isReplay: isReplay(call), errorType };
}

/** Statuses of the errors, by problem code. */
const STATUSES: ReadonlyMap<string | undefined, number> = new Map(
  Object.entries(errorTable).map(([code, { status }]) => [code, status]),
);

/**
 * Whether a call failed by a fault of the service. The HTTP status does not show this for a stream that fails after its
 * first message.
 */
function isFaultOf({ problemCode }: Call): boolean {
  return (STATUSES.get(problemCode) ?? 0) >= 500;
}

/**
 * Whether a limit other than `load` rejected the call. The limit `load` means that the process is overloaded, which
 * counts as a fault of the service.
 */
function isExpectedRejection({ limit }: Call): boolean {
  return limit !== undefined && limit !== "load";
}

function isReplay({ responseHeaders }: Call): boolean {
  return responseHeaders["Idempotent-Replayed"] === "true";
}

function rpcTransportOf({ headers }: HttpRequest): Transport {
  const type = headers["content-type"]?.toLowerCase() ?? "";
  if (type.startsWith("application/grpc-web")) return "grpc-web";
  return type.startsWith("application/grpc") ? "grpc" : "connect";
}

/** Returns the name of a code as the transport spells it. An undefined code means success. */
function statusName(code: Code | undefined, transport: Transport): string {
  if (transport === "connect") return code === undefined ? "ok" : codeToString(code);
  if (code === undefined) return "OK";
  return code === Code.Canceled ? "CANCELLED" : codeToString(code).toUpperCase();
}
