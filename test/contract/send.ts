import { randomUUID } from "node:crypto";
import { fromJson, type JsonObject, toJson } from "@bufbuild/protobuf";
import { ConnectError, type Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect } from "vitest";
import { ProblemSchema } from "../../src/gen/cupo/access/v1/problem_pb.js";
import { idNameOf, withId } from "../operations-clinic/resources-under-test.js";
import { isTooBusy } from "../support/once.js";
import type { RestAnswer } from "../support/rest-request.js";
import { callRpc, writerOf } from "../support/rpc.js";
import type { TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
import type { Draft } from "./operations.js";
import { type PublishedOperation, rpcNamed } from "./published-operations.js";

/** Differences of a request from the valid draft. */
export interface Changes {
  /** Claims of the token. */
  readonly as?: TokenFor;
  /** Additional headers; null removes a header. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** Replaces the body. A string is sent as it is; any other value is sent as JSON. */
  readonly body?: unknown;
}

const grpcTransports = new WeakMap<TestService, Transport>();

/**
 * Sends a draft over REST. Fails the test if the operation does not list the status, unless the service is too busy.
 */
export async function sendRest(
  service: TestService,
  operation: PublishedOperation,
  draft: Draft,
  { as, headers = {}, body = draft.body }: Changes = {},
): Promise<RestAnswer> {
  const path = operation.name.split(" ")[1]?.replace(/\{(\w+)\}/g, (_, name: string) => draft.path[name] ?? "");
  const token = await service.token(as);
  const answer = await service.request(operation.httpMethod, `${path}`, { token, headers, body });
  return requireOwnStatus(operation, answer);
}

/** Sends a draft over gRPC. Returns the answer in the form of REST, with REST's success status. */
export async function sendGrpc(
  service: TestService,
  operation: PublishedOperation,
  draft: Draft,
  { as, headers = {} }: Pick<Changes, "as"> & { readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<RestAnswer> {
  const { method, response, options } = operation;
  const message = fromJson(method.input, { ...draft.body, ...draft.path });
  const authorization = `Bearer ${await service.token(as)}`;
  const allHeaders = { authorization, "idempotency-key": randomUUID(), ...headers };
  try {
    const answer = await transportTo(service).unary(method, undefined, undefined, allHeaders, message);
    const whole = JSON.parse(writerOf(method.output)(answer.message)) as JsonObject;
    return answerOf(options.successStatus, answer.header, whole[response.jsonName] as JsonObject);
  } catch (error) {
    const [problem] = error instanceof ConnectError ? error.findDetails(ProblemSchema) : [];
    if (!(error instanceof ConnectError) || problem === undefined) throw error;
    const body = toJson(ProblemSchema, problem) as JsonObject;
    return requireOwnStatus(operation, answerOf(problem.status ?? 0, error.metadata, body));
  }
}

/**
 * Returns the current resource of an update, read as staff and reduced to the published members. Its id has the
 * published name.
 */
export async function readResource(
  service: TestService,
  { response }: PublishedOperation,
  { path }: Draft,
  as: TokenFor = {},
): Promise<JsonObject> {
  const rpc = rpcNamed(`Get${response.message.name}`);
  const named = new Set(rpc.input.fields.map(({ jsonName }) => jsonName));
  const request = Object.fromEntries(
    Object.entries(path).map(([name, id]) => [named.has(name) ? name : idNameOf(rpc.input), id]),
  );
  const { status, body, text } = await callRpc(service, rpc, request, { as });
  if (status !== 200) throw new Error(`reading a ${response.message.name} must succeed, but the answer is ${text}`);
  const shown = body[response.jsonName] as JsonObject;
  const published = new Set(response.message.fields.map(({ jsonName }) => jsonName));
  const all: JsonObject = published.has("id") ? { ...withId(shown) } : shown;
  return Object.fromEntries(Object.entries(all).filter(([name]) => published.has(name)));
}

/** Returns the status and the field errors of an answer on one line. */
export function summaryOf({ status, body }: RestAnswer): string {
  const items = (body["errors"] ?? []) as readonly Readonly<Record<"field" | "code", string>>[];
  return [status, ...items.map(({ field, code }) => `${field} ${code}`)].join(" ");
}

function requireOwnStatus({ name, options }: PublishedOperation, answer: RestAnswer): RestAnswer {
  const own = [options.successStatus, ...options.errorStatuses];
  if (!own.includes(answer.status) && !isTooBusy(answer))
    expect.fail(`${name} answers ${answer.status}, which the operation does not list: ${answer.text}`);
  return answer;
}

function transportTo(service: TestService): Transport {
  const known = grpcTransports.get(service);
  if (known !== undefined) return known;
  const transport = createGrpcTransport({ baseUrl: service.internalUrl });
  grpcTransports.set(service, transport);
  return transport;
}

function answerOf(status: number, headers: Headers, body: JsonObject): RestAnswer {
  return { status, headers, text: JSON.stringify(body), body };
}
