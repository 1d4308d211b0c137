import { toJson } from "@bufbuild/protobuf";
import { type Code, ConnectError } from "@connectrpc/connect";
import { readAllBytes, type UniversalClientResponse } from "@connectrpc/connect/protocol";
import { codeFromString } from "@connectrpc/connect/protocol-connect";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { createNodeHttpClient, Http2SessionManager } from "@connectrpc/connect-node";
import { ProblemSchema } from "../../src/gen/cupo/access/v1/problem_pb.js";
import { parseObject } from "./rest-request.js";

/** A protocol, encoding and HTTP version in which an RPC can be sent. */
export interface RpcFormat {
  readonly httpVersion: "1.1" | "2";
  readonly contentType: string;
  readonly isJson: boolean;
  /** Whether messages have an envelope, as in gRPC and gRPC-Web. */
  readonly hasEnvelope: boolean;
  /** Header that names the compression of a message. */
  readonly encodingHeader: string;
  readonly timeLimitHeader: string;
}

const grpc = { isJson: false, hasEnvelope: true, encodingHeader: "grpc-encoding", timeLimitHeader: "grpc-timeout" };
const connect = { hasEnvelope: false, encodingHeader: "content-encoding", timeLimitHeader: "connect-timeout-ms" };

/** Every format, by its name in test titles. */
export const rpcFormats: Readonly<Record<string, RpcFormat>> = {
  "Connect, JSON, HTTP/1.1": { ...connect, httpVersion: "1.1", contentType: "application/json", isJson: true },
  "Connect, JSON, HTTP/2": { ...connect, httpVersion: "2", contentType: "application/json", isJson: true },
  "Connect, binary, HTTP/1.1": { ...connect, httpVersion: "1.1", contentType: "application/proto", isJson: false },
  "gRPC, HTTP/2": { ...grpc, httpVersion: "2", contentType: "application/grpc" },
  "gRPC-Web, HTTP/1.1": { ...grpc, httpVersion: "1.1", contentType: "application/grpc-web+proto" },
};

/** A call whose every byte the test decides. */
export interface RawCall {
  readonly method?: string;
  /** Path of the URL, with the leading slash. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** The answer to a call. */
export interface RawOutcome {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined for a success, or if the answer has no code. */
  readonly code: Code | undefined;
  /** The Problem in the details of the error, as JSON. */
  readonly problem: Readonly<Record<string, unknown>> | undefined;
  /** Headers, body and trailers: every byte of the answer, readable or not. */
  readonly everything: string;
}

/** Sends a call to the listener at `origin` and reads the whole answer. */
export async function sendCall(origin: string, format: RpcFormat, call: RawCall): Promise<RawOutcome> {
  const { httpVersion } = format;
  const session = new Http2SessionManager(origin);
  const client =
    httpVersion === "2"
      ? createNodeHttpClient({ httpVersion, sessionProvider: () => session })
      : createNodeHttpClient({ httpVersion });
  try {
    const answer = await client({
      url: origin + call.path,
      method: call.method ?? "POST",
      header: new Headers({ "content-type": format.contentType, ...call.headers }),
      body: once(call.body),
    });
    const body = Buffer.from(await readAllBytes(answer.body, Number.MAX_SAFE_INTEGER));
    if (isPlainJson(format, call)) await checkJson(origin, call, answer, body);
    return outcomeOf(format, answer.status, [answer.header, answer.trailer], body);
  } finally {
    session.abort();
  }
}

/** Whether the OpenAPI documents describe such a call: Connect with JSON, without compression. */
function isPlainJson({ isJson, encodingHeader }: RpcFormat, { headers }: RawCall): boolean {
  const names = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  return isJson && !names.has(encodingHeader) && !names.has("accept-encoding");
}

async function checkJson(origin: string, call: RawCall, answer: UniversalClientResponse, body: Buffer): Promise<void> {
  const { checkExchange } = await import("./openapi-check.js");
  checkExchange({
    method: call.method ?? "POST",
    url: origin + call.path,
    requestHeaders: new Headers(call.headers),
    requestText: Buffer.from(call.body).toString(),
    status: answer.status,
    headers: answer.header,
    text: body.toString(),
  });
}

/** Puts a message into an envelope: flags, length, message. */
export function envelope(message: Uint8Array, flags = 0): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(flags);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

function outcomeOf(format: RpcFormat, status: number, [header, trailer]: Headers[], body: Buffer): RawOutcome {
  const headers = new Headers([...(header ?? []), ...(trailer ?? []), ...trailersIn(format, body)]);
  const error = format.hasEnvelope ? findTrailerError(headers) : connectError(status, body);
  const [problem] = error?.findDetails(ProblemSchema) ?? [];
  const everything = `${[...headers].join("\n")}\n${body.toString("latin1")}\n${(error?.details ?? []).map(textOf).join()}`;
  return {
    status,
    headers,
    code: error?.code,
    everything,
    problem: problem && (toJson(ProblemSchema, problem) as Record<string, unknown>),
  };
}

/** Reads the trailers of gRPC-Web, which are in an envelope of the body. */
function trailersIn({ contentType }: RpcFormat, body: Buffer): [string, string][] {
  if (!contentType.startsWith("application/grpc-web")) return [];
  for (let at = 0; at + 5 <= body.length; at += 5 + body.readUInt32BE(at + 1)) {
    if (body[at] !== 0x80) continue;
    const lines = body
      .subarray(at + 5)
      .toString()
      .split("\r\n");
    return lines
      .filter((line) => line.includes(":"))
      .map((line) => [line.split(":")[0] ?? "", line.slice(line.indexOf(":") + 1).trim()]);
  }
  return [];
}

function connectError(status: number, body: Buffer): ConnectError | undefined {
  if (status === 200) return undefined;
  const { code, message, details } = parseObject(body.toString());
  const known = codeFromString(String(code));
  if (known === undefined) return undefined;
  const error = new ConnectError(String(message), known);
  error.details = (details ?? []) as typeof error.details;
  for (const detail of error.details) {
    if ("type" in detail) Object.assign(detail, { value: Buffer.from(String(detail.value), "base64") });
  }
  return error;
}

function textOf(detail: ConnectError["details"][number]): string {
  return "value" in detail && detail.value instanceof Uint8Array ? Buffer.from(detail.value).toString("latin1") : "";
}

async function* once(body: Uint8Array): AsyncIterable<Uint8Array> {
  if (body.length > 0) yield body;
}
