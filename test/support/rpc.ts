import { randomUUID } from "node:crypto";
import {
  type DescMessage,
  type DescMethodUnary,
  type DescService,
  fromJson,
  type JsonObject,
  toJsonString,
} from "@bufbuild/protobuf";
import { type Client, ConnectError, createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { ProblemSchema } from "../../src/gen/cupo/access/v1/problem_pb.js";
import { createMessageWriter } from "../../src/rest/json/write-message.js";
import { parseObject, type RestAnswer } from "./rest-request.js";
import type { TestService } from "./service.js";
import type { TokenFor } from "./tokens.js";

/** What an RPC may differ in from a good one. */
export interface RpcChanges {
  /** Whom the access token is for. */
  readonly as?: TokenFor;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Calls an RPC of the internal listener with everything that a good call has: a token with every scope, a fresh
 * idempotency key. Request and response are in their JSON form, where lists are never left out. An error is an answer as
 * well: its Problem, with that status; a success has 200. Fails where the messages of a success are not as the OpenAPI
 * document says.
 */
export async function callRpc(
  service: TestService,
  method: DescMethodUnary,
  request: JsonObject = {},
  { as, headers = {} }: RpcChanges = {},
): Promise<RestAnswer> {
  const transport = await openTransport(service, as);
  const { checkAccepted } = await import("./openapi-check.js");
  const answered = await callOver(transport, method, request, headers);
  if (answered.status === 200) checkAccepted(method, request, answered.body);
  return answered;
}

/** Calls RPCs of the internal listener as {@link callRpc} does. */
export type RpcCaller = (method: DescMethodUnary, request: JsonObject) => Promise<RestAnswer>;

/** How often a call is sent at most. */
const ATTEMPTS = 10;

/**
 * Calls RPCs as one principal over one transport, again under the same key where the service was not available, and does not hold
 * the messages to the OpenAPI document: for very many calls, on a machine that may be busy.
 */
export function openCaller(service: TestService, as?: TokenFor): RpcCaller {
  const authorized: Interceptor = (next) => async (request) => credentials(await service.token(as))(next)(request);
  const transport = createConnectTransport({
    baseUrl: service.internalUrl,
    httpVersion: "1.1",
    interceptors: [authorized],
  });
  return async (method, request) => {
    const headers = { "idempotency-key": randomUUID() };
    let answered = await callOver(transport, method, request, headers);
    for (let sent = 1; sent < ATTEMPTS && answered.status === 503; sent++) {
      answered = await callOver(transport, method, request, headers);
    }
    return answered;
  };
}

async function callOver(
  transport: Transport,
  method: DescMethodUnary,
  request: JsonObject,
  headers: Readonly<Record<string, string>>,
): Promise<RestAnswer> {
  try {
    const message = fromJson(method.input, request);
    const response = await transport.unary(method, undefined, undefined, headers, message);
    return answer(200, response.header, writerOf(method.output)(response.message));
  } catch (error) {
    const [problem] = error instanceof ConnectError ? error.findDetails(ProblemSchema) : [];
    if (!(error instanceof ConnectError) || problem === undefined) throw error;
    return answer(problem.status ?? 0, error.metadata, toJsonString(ProblemSchema, problem));
  }
}

const writers = new Map<DescMessage, ReturnType<typeof createMessageWriter>>();

/** Writes messages of a kind in their JSON form. Compiled once. */
export function writerOf(schema: DescMessage): ReturnType<typeof createMessageWriter> {
  const writer = writers.get(schema) ?? createMessageWriter(schema);
  writers.set(schema, writer);
  return writer;
}

/** A client of a service on the internal listener, whose calls have everything that good ones have. */
export async function rpcClient<S extends DescService>(
  service: TestService,
  description: S,
  as?: TokenFor,
): Promise<Client<S>> {
  return createClient(description, await openTransport(service, as));
}

async function openTransport(service: TestService, as: TokenFor | undefined): Promise<Transport> {
  const interceptors = [credentials(await service.token(as))];
  return createConnectTransport({ baseUrl: service.internalUrl, httpVersion: "1.1", interceptors });
}

function credentials(token: string): Interceptor {
  return (next) => (request) => {
    request.header.set("authorization", `Bearer ${token}`);
    if (!request.header.has("idempotency-key")) request.header.set("idempotency-key", randomUUID());
    return next(request);
  };
}

function answer(status: number, headers: Headers, text: string): RestAnswer {
  return { status, headers, text, body: parseObject(text) };
}
