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
import { createMessageWriter } from "@cupo/connect-rest/strict-json";
import { ProblemSchema } from "../../src/gen/cupo/access/v1/problem_pb.js";
import { checkRefusal } from "./refusal-check.js";
import { parseObject, type RestAnswer } from "./rest-request.js";
import type { TestService } from "./service.js";
import type { TokenFor } from "./tokens.js";

/** Differences of an RPC from a valid one. */
export interface RpcChanges {
  /** Claims of the access token. */
  readonly as?: TokenFor;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Calls an RPC of the internal listener with the headers of a valid call: a token with every scope and a new
 * idempotency key. Request and response are in JSON form with all lists present. A success has status 200. An error is
 * returned as an answer with the status of its Problem.
 *
 * Fails the test if the messages of a success violate the OpenAPI document, or an error violates the catalogue of
 * errors.
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
  else checkRefusal(method, answered.body);
  return answered;
}

/** Calls RPCs of the internal listener as {@link callRpc} does. */
export type RpcCaller = (method: DescMethodUnary, request: JsonObject) => Promise<RestAnswer>;

/** The most attempts for one call. */
const ATTEMPTS = 10;

/**
 * Returns a caller for very many calls on a machine that may be busy. It calls as one principal over one transport and
 * repeats a call with the same key while the service is unavailable. It does not check messages against the OpenAPI
 * document.
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

/** Returns the JSON writer of a message type. It is compiled once. */
export function writerOf(schema: DescMessage): ReturnType<typeof createMessageWriter> {
  const writer = writers.get(schema) ?? createMessageWriter(schema);
  writers.set(schema, writer);
  return writer;
}

/** Creates a client of the internal listener. Its calls have the headers of a valid call. */
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
