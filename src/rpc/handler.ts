import { type ContextValues, createServiceImplSpec, type Interceptor, type MethodImplSpec } from "@connectrpc/connect";
import { contentTypeStreamRegExp, contentTypeUnaryRegExp } from "@connectrpc/connect/protocol-connect";
import type { NodeRequest } from "../rest/read-body.js";
import { RestError } from "../rest/rest-error.js";
import type { RestService } from "../rest/routes/routes.js";
import { type NodeResponse, sendResponse } from "../rest/send-response.js";
import { readHeaders } from "../rest/web-headers.js";
import type { AnswerCall, RpcCall } from "./answer-call.js";
import { type AnsweringOptions, createConnectMethod } from "./connect-method.js";
import { createConnectStream } from "./connect-stream.js";
import { createGrpcMethods } from "./grpc-methods.js";
import { messageReading, type ReadingOptions } from "./message-reading.js";

/** How an RPC handler is made. */
export interface RpcHandlerOptions extends ReadingOptions, AnsweringOptions {
  /** Methods that take one message, and answer by one or by a stream. One that an implementation does not have is unimplemented. */
  readonly services: readonly RestService[];
  /** Run before a byte of the message is read, outermost first. The first makes a ConnectError of whatever is thrown. */
  readonly onHeaders: readonly Interceptor[];
  /** Run when the request message is there. */
  readonly onMessage: readonly Interceptor[];
  /** Called first for every call; interceptors see these same values. */
  openValues(request: NodeRequest): ContextValues;
}

/** Answers a request of Node's HTTP/1.1 or HTTP/2 server. Never rejects. */
export type RpcHandler = (request: NodeRequest, response: NodeResponse) => Promise<void>;

type Format = Pick<RpcCall, "protocol" | "isJson">;

interface Method {
  readonly isStream: boolean;
  readonly connect: AnswerCall;
  readonly grpc: AnswerCall;
}

const grpcType = /^application\/grpc(-web)?(?:\+proto)?$/i;
const acceptPost = "application/json, application/proto, application/grpc, application/grpc-web";
const acceptStreamPost = "application/connect+json, application/connect+proto, application/grpc, application/grpc-web";

/**
 * Compiles services into a handler that serves them by Connect, gRPC and gRPC-Web. Order of a call: its path (404), HTTP
 * method (405) and media type (415); `onHeaders`; the message, read and decoded; `onMessage`; the implementation.
 *
 * Left out on purpose: Connect's calls by GET, which put the message into the address, and addresses, with all that is in
 * them, end up in the logs of proxies; JSON in gRPC and gRPC-Web, which Connect has; gRPC-Web as base64 text; streams of the
 * caller, for which it throws.
 */
export function createRpcHandler(options: RpcHandlerOptions): RpcHandler {
  const methods = compileMethods(options);
  const refuse = (request: NodeRequest, response: NodeResponse, status: number, headers = {}) =>
    sendResponse(request, response, { status, headers, body: "" }, options.maxBodyBytes);
  return async (request, response) => {
    try {
      const method = methods.get(request.url?.split("?", 1)[0] ?? "");
      if (method === undefined) return refuse(request, response, 404);
      if (request.method !== "POST") return refuse(request, response, 405, { allow: "POST" });
      const headers = readHeaders(request);
      const format = formatOf(headers.get("content-type") ?? "", method);
      if (format === undefined) {
        return refuse(request, response, 415, { "accept-post": method.isStream ? acceptStreamPost : acceptPost });
      }
      const answer = format.protocol === "connect" ? method.connect : method.grpc;
      await answer({ request, response, headers, values: options.openValues(request), ...format });
    } catch (error) {
      if (error instanceof RestError) refuse(request, response, 400);
      else response.destroy();
    }
  };
}

function compileMethods(options: RpcHandlerOptions): Map<string, Method> {
  const { services, onHeaders, onMessage } = options;
  const reading = messageReading(
    services.flatMap(({ service }) => service.methods),
    options,
  );
  const interceptors = [...onHeaders, reading, ...onMessage];
  const byGrpc = createGrpcMethods(services, interceptors, options);
  const methods = new Map<string, Method>();
  for (const { service, implementation } of services) {
    for (const spec of Object.values(createServiceImplSpec(service, implementation).methods)) {
      const path = `/${service.typeName}/${spec.method.name}`;
      const grpc = byGrpc.get(path);
      if (grpc === undefined) throw new Error(`${path} has no way by gRPC`);
      methods.set(path, compileMethod(spec, grpc, interceptors, options));
    }
  }
  return methods;
}

function compileMethod(
  spec: MethodImplSpec,
  grpc: AnswerCall,
  interceptors: readonly Interceptor[],
  options: AnsweringOptions,
): Method {
  if (spec.kind === "unary")
    return { isStream: false, connect: createConnectMethod(spec, interceptors, options), grpc };
  if (spec.kind !== "server_streaming") throw new Error(`${spec.method.name} takes a stream`);
  return { isStream: true, connect: createConnectStream(spec, interceptors, options), grpc };
}

function formatOf(contentType: string, { isStream }: Method): Format | undefined {
  const connectTypes = isStream ? contentTypeStreamRegExp : contentTypeUnaryRegExp;
  if (connectTypes.test(contentType)) {
    return { protocol: "connect", isJson: /^application\/(?:connect\+)?json/i.test(contentType) };
  }
  const [match, web] = grpcType.exec(contentType) ?? [];
  if (match === undefined) return undefined;
  return { protocol: web === undefined ? "grpc" : "grpc-web", isJson: false };
}
