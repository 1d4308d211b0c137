import { randomUUID } from "node:crypto";
import {
  type DescMessage,
  type DescMethodUnary,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { httpBindings } from "@cupo/connect-rest";
import {
  CLINIC_BASE_PATH,
  hasQuery,
  isPublished,
  operationName,
  operationOf,
  takesIdempotencyKey,
} from "../../src/operation.js";
import { envelope, type RawOutcome, type RpcFormat, rpcFormats, sendCall } from "../support/raw-rpc.js";
import { parseObject, type RestAnswer, sendRequest } from "../support/rest-request.js";
import type { TestService } from "../support/service.js";
import type { Damage, GeneratedRequest } from "./generated-requests.js";
import { type RequestContext, settle } from "./pending.js";

/** The answer to a request in the form of REST, for any protocol. */
export interface Verdict extends RestAnswer {
  /** All readable bytes of the answer. */
  readonly everything: string;
  /** The correlation id of the request; undefined if it sent none or an invalid one. */
  readonly correlationId: string | undefined;
}

const LONGEST_SEGMENT = 1_000;
const MOST_PAIRS = 8;
const PLACEHOLDER = /\{(\w+)\}/g;

/** Sends a request with this token. */
export function sendGenerated(
  service: TestService,
  context: RequestContext,
  token: string,
  request: GeneratedRequest,
): Promise<Verdict> {
  const { method, way } = request;
  const correlationId = "x-correlation-id" in request.headers ? undefined : randomUUID();
  const headers = {
    authorization: `Bearer ${token}`,
    ...(takesIdempotencyKey(method) ? { "idempotency-key": randomUUID() } : {}),
    ...(correlationId === undefined ? {} : { "x-correlation-id": correlationId }),
    ...request.headers,
  };
  const format = rpcFormats[way];
  const body = settle(request.body, context);
  return format === undefined
    ? sendRest(service, request, { body, headers, correlationId })
    : sendRpc(service, format, request, { body, headers, correlationId });
}

interface Sent {
  readonly body: JsonValue;
  readonly headers: Readonly<Record<string, string | null>>;
  readonly correlationId: string | undefined;
}

async function sendRest(service: TestService, request: GeneratedRequest, sent: Sent): Promise<Verdict> {
  const { method, damage } = request;
  const [binding] = httpBindings(method);
  const named = isObject(sent.body) ? sent.body : {};
  const inPath = new Map(
    method.input.fields
      .filter(({ name }) => binding?.template.includes(`{${name}}`))
      .map(({ name, jsonName }) => [name, jsonName]),
  );
  const path = binding?.template.replace(PLACEHOLDER, (_, name: string) => segment(named[`${inPath.get(name)}`]));
  const others = Object.entries(named).filter(([name]) => ![...inPath.values()].includes(name));
  const prefix = isPublished(method.parent) ? service.baseUrl : `${service.publicUrl}${CLINIC_BASE_PATH}`;
  const body = isObject(sent.body) ? withMembers(others) : sent.body;
  const query = hasQuery(method) ? `?${queryOf(others, damage)}` : "";
  const content = query === "" ? { body: damaged(Buffer.from(JSON.stringify(body)), damage).toString() } : {};
  const headers = { "idempotency-key": null, "content-type": "application/json", ...sent.headers };
  const answer = await sendRequest(`${binding?.httpMethod}`, `${prefix}${path}${query}`, { ...content, headers });
  return {
    ...answer,
    everything: `${[...answer.headers].join("\n")}\n${answer.text}`,
    correlationId: sent.correlationId,
  };
}

/**
 * Encodes members as a query that is short enough for a request line. Damage is done to the first value: in a damaged
 * name a part of a value would be repeated by the answer, which names unknown parameters.
 */
function queryOf(members: readonly (readonly [string, JsonValue])[], damage: Damage | undefined): string {
  const pairs = members.flatMap(([name, value]) =>
    [value].flat().map((each) => [segment(name), segment(each)] as const),
  );
  const sent = pairs.map(([name, value], index) => {
    const bytes = damaged(Buffer.from(value), index === 0 ? damage : undefined);
    return `${name}=${bytes.toString().replace(/[^\w.~!*'()%+-]/gu, (letter) => encodeURIComponent(letter))}`;
  });
  return sent.slice(0, MOST_PAIRS).join("&");
}

/** Encodes a path segment. It never changes the structure of the path and is short enough for a request line. */
function segment(value: JsonValue | undefined): string {
  const text = (typeof value === "string" ? value : JSON.stringify(value ?? null)).slice(0, LONGEST_SEGMENT);
  return /^\.{0,2}$/.test(text) ? "-" : encodeURIComponent(Buffer.from(text).toString());
}

async function sendRpc(
  service: TestService,
  format: RpcFormat,
  { method, damage }: GeneratedRequest,
  { body, headers, correlationId }: Sent,
): Promise<Verdict> {
  const message = format.isJson ? Buffer.from(JSON.stringify(body)) : binaryOf(method.input, body);
  const bytes = damaged(message, damage);
  const outcome = await sendCall(service.internalUrl, format, {
    path: `/${operationName(method)}`,
    headers: Object.fromEntries(
      Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== null),
    ),
    body: format.hasEnvelope ? envelope(bytes) : bytes,
  });
  return { ...asRest(method, outcome), everything: outcome.everything, correlationId };
}

/** Encodes all members that the message can have together, and one unknown field. */
function binaryOf(type: DescMessage, body: JsonValue): Buffer {
  let fitting: JsonObject = {};
  for (const member of isObject(body) ? Object.entries(body) : []) {
    const longer = withMembers([...Object.entries(fitting), member]);
    if (readMessage(type, longer) !== undefined) fitting = longer;
  }
  const unknown = Buffer.from([0xfa, 0xff, 0x3f, 0x03, 0x61, 0x62, 0x63]);
  return Buffer.concat([toBinary(type, fromJson(type, fitting)), unknown]);
}

function readMessage(type: DescMessage, members: JsonObject): Message | undefined {
  try {
    return fromJson(type, members);
  } catch {
    return undefined;
  }
}

/** Returns the answer of an RPC in the form of REST. */
export function asRest(
  method: DescMethodUnary,
  { status, code, problem, headers, everything }: RawOutcome,
): RestAnswer {
  if (code === undefined && status === 200) {
    const [, text = ""] = everything.split("\n{");
    return { status: operationOf(method).successStatus, headers, text, body: parseObject(`{${text.trim()}`) };
  }
  const asProblem = new Headers(headers);
  asProblem.set("content-type", "application/problem+json");
  const body = problem ?? { code: code === undefined ? status : Code[code] };
  return { status: Number(body["status"] ?? 0), headers: asProblem, text: everything, body };
}

function damaged(bytes: Buffer, damage: Damage | undefined): Buffer {
  if (damage === undefined) return bytes;
  const at = Math.floor((damage.at / 1_000) * bytes.length);
  return Buffer.concat([bytes.subarray(0, at), damage.bytes, bytes.subarray(at + damage.gone)]);
}

function withMembers(members: readonly (readonly [string, JsonValue])[]): JsonObject {
  const object: JsonObject = Object.create(null);
  for (const [name, value] of members) object[name] = value;
  return object;
}

function isObject(value: JsonValue): value is JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
