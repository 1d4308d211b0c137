import type { DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel as Level } from "@bufbuild/protobuf/wkt";
import { type ContextValues, createServiceImplSpec, type Interceptor, type MethodImplSpec } from "@connectrpc/connect";
import { contentTypeStreamRegExp, contentTypeUnaryRegExp } from "@connectrpc/connect/protocol-connect";
import { RestError, type RestService } from "@cupo/connect-rest";
import { cutResponse, type NodeRequest, type NodeResponse, readHeaders, sendResponse } from "@cupo/connect-rest/node";
import type { AnswerCall, RpcCall } from "./answer-call.js";
import { type AnsweringOptions, createConnectMethod } from "./connect-method.js";
import { type ConnectQuery, connectQuery, isJsonQuery } from "./connect-query.js";
import { createConnectStream } from "./connect-stream.js";
import { createGrpcMethod } from "./grpc-method.js";
import { messageReading, type ReadingOptions } from "./message-reading.js";
import { endAtTimeLimit } from "./time-limit.js";

/** Options of an RPC handler. */
export interface RpcHandlerOptions extends ReadingOptions, AnsweringOptions {
  /**
   * The services to serve, with unary and server-streaming methods. A method without an implementation answers with the
   * code unimplemented.
   */
  readonly services: readonly RestService[];
  /**
   * Returns the outermost interceptor of a method. This interceptor must convert every thrown error to a ConnectError.
   */
  translateErrors(method: DescMethod): Interceptor;
  /** Returns the interceptors of a method that run before the message is read. The first one is outermost. */
  headerInterceptors(method: DescMethod): readonly Interceptor[];
  /** Returns the interceptors of a method that run after the request message is decoded. */
  interceptors(method: DescMethod): readonly Interceptor[];
  /** Creates the context values of a call, before any interceptor runs. All interceptors receive the same values. */
  openValues(request: NodeRequest): ContextValues;
}

/**
 * Answers a request of Node's HTTP/1.1 or HTTP/2 server. Never rejects. After an unexpected error, destroys the
 * response instead of answering.
 */
export type RpcHandler = (request: NodeRequest, response: NodeResponse) => Promise<void>;

type Format = Pick<RpcCall, "protocol" | "isJson" | "query">;

interface Method {
  readonly isStream: boolean;
  /** The HTTP methods by which the RPC can be called: POST, and GET if {@link isReadable} is true for it. */
  readonly allowed: readonly string[];
  compiled(): CompiledMethod;
}

/** A method, compiled for answering its calls. */
interface CompiledMethod {
  readonly connect: AnswerCall;
  readonly grpc: AnswerCall;
}

const grpcType = /^application\/grpc(-web)?(?:\+proto)?$/i;
const acceptPost = "application/json, application/proto, application/grpc, application/grpc-web";
const acceptStreamPost = "application/connect+json, application/connect+proto, application/grpc, application/grpc-web";

/**
 * Compiles services into a handler that serves them over Connect, gRPC and gRPC-Web. Throws for a method with client
 * streaming. `translateErrors`, `headerInterceptors` and `interceptors` are called at the first call of a method.
 * `openValues` is called at each call.
 *
 * A call passes these steps in order:
 * - path (404), HTTP method (405) and media type (415)
 * - the `headerInterceptors`
 * - reading and decoding the message
 * - the `interceptors`
 * - the implementation
 *
 * Over Connect, unary methods marked NO_SIDE_EFFECTS can also be called by GET. All other calls are POST.
 *
 * Not supported on purpose:
 * - JSON over gRPC and gRPC-Web: Connect has it
 * - gRPC-Web as base64 text
 * - client streaming
 */
export function createRpcHandler(options: RpcHandlerOptions): RpcHandler {
  const methods = methodsOf(options);
  const refuse = (request: NodeRequest, response: NodeResponse, status: number, headers = {}) =>
    sendResponse(request, response, { status, headers, body: "" }, options.maxBodyBytes);
  return async (request, response) => {
    try {
      const method = methods.get(request.url?.split("?", 1)[0] ?? "");
      if (method === undefined) return await refuse(request, response, 404);
      if (!method.allowed.includes(request.method ?? "")) {
        return await refuse(request, response, 405, { allow: method.allowed.join(", ") });
      }
      const headers = readHeaders(request.rawHeaders);
      const format =
        request.method === "GET" ? formatOfQuery(connectQuery(request.url ?? "")) : formatOf(headers, method);
      if (format === undefined) {
        return await refuse(request, response, 415, { "accept-post": method.isStream ? acceptStreamPost : acceptPost });
      }
      const { connect, grpc } = method.compiled();
      const answer = format.protocol === "connect" ? connect : grpc;
      await answer({ request, response, headers, values: options.openValues(request), ...format });
    } catch (error) {
      if (error instanceof RestError) await refuse(request, response, 400);
      else cutResponse(response);
    }
  };
}

function methodsOf(options: RpcHandlerOptions): Map<string, Method> {
  const methods = new Map<string, Method>();
  for (const { service, implementation } of options.services) {
    for (const spec of Object.values(createServiceImplSpec(service, implementation).methods)) {
      methods.set(`/${service.typeName}/${spec.method.name}`, openMethod(spec, options));
    }
  }
  return methods;
}

/** Returns a method that is compiled at its first call. Compiling all methods at once would delay the start. */
function openMethod(spec: MethodImplSpec, options: RpcHandlerOptions): Method {
  const { kind, method } = spec;
  if (kind !== "unary" && kind !== "server_streaming") {
    throw new Error(`${method.name} has client streaming, which is not supported`);
  }
  let compiled: CompiledMethod | undefined;
  return {
    isStream: kind === "server_streaming",
    allowed: isReadable(method) ? ["GET", "POST"] : ["POST"],
    compiled: () => (compiled ??= compileMethod(spec, options)),
  };
}

function compileMethod(spec: MethodImplSpec, options: RpcHandlerOptions): CompiledMethod {
  const { method } = spec;
  const interceptors = [
    options.translateErrors(method),
    endAtTimeLimit,
    ...options.headerInterceptors(method),
    messageReading(method, options),
    ...options.interceptors(method),
  ];
  const createConnect = spec.kind === "unary" ? createConnectMethod : createConnectStream;
  return {
    connect: createConnect(spec, interceptors, options),
    grpc: createGrpcMethod(spec, interceptors, options),
  };
}

/** Whether Connect may call a method by GET: the method is unary and marked NO_SIDE_EFFECTS. */
export function isReadable({ methodKind, idempotency }: DescMethod): boolean {
  return methodKind === "unary" && idempotency === Level.NO_SIDE_EFFECTS;
}

function formatOfQuery(query: ConnectQuery): Format | undefined {
  const isJson = isJsonQuery(query);
  return isJson === undefined ? undefined : { protocol: "connect", isJson, query };
}

function formatOf(headers: Headers, { isStream }: Method): Format | undefined {
  const contentType = headers.get("content-type") ?? "";
  const connectTypes = isStream ? contentTypeStreamRegExp : contentTypeUnaryRegExp;
  if (connectTypes.test(contentType)) {
    return { protocol: "connect", isJson: /^application\/(?:connect\+)?json/i.test(contentType) };
  }
  const [match, web] = grpcType.exec(contentType) ?? [];
  if (match === undefined) return undefined;
  return { protocol: web === undefined ? "grpc" : "grpc-web", isJson: false };
}
