import { brotliCompressSync, gzipSync } from "node:zlib";
import { create, type Message, toBinary, toJsonString } from "@bufbuild/protobuf";
import { type Script, ScriptSchema, ScriptService } from "../../gen/script/v1/script_pb.js";
import type { ConformanceCase, Envelope } from "./conformance-case.js";
import type { Sent } from "./exchange.js";
import type { Format } from "./formats.js";

/** Whether the method has a single answer. */
export function isUnary(method: string): boolean {
  return !["Watch", "MissStream"].includes(method);
}

/** Whether the bodies of a call have envelopes: always in gRPC, and for streams in Connect. */
export function hasEnvelopes({ protocol }: Format, method: string): boolean {
  return protocol !== "connect" || !isUnary(method);
}

/** Writes the request of a case. `maxBytes` is the greatest length of a message that the servers accept. */
export function writeRequest(call: ConformanceCase, method: string, format: Format, maxBytes: number): Sent {
  if (call.byGet === true) return writeGet(call, method, format, maxBytes);
  const { verb = "POST", path = `/${ScriptService.typeName}/${method}`, ...changes } = call.changes ?? {};
  const message = encoded(call, format, maxBytes);
  const body = changes.body === undefined ? bodyOf(call, method, format, message) : Buffer.from(changes.body, "latin1");
  const fields = { ...headersOf(format, method), ...timeLimit(call, format), ...changes.headers };
  const headers = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return {
    http: format.http,
    method: verb,
    path,
    headers: Object.fromEntries(headers),
    body: body.subarray(0, body.length - (changes.cutOff ?? 0)),
  };
}

/** Writes a call by GET as connect-es does: its own parameters in their order, base64 for what is not plain JSON. */
function writeGet(call: ConformanceCase, method: string, format: Format, maxBytes: number): Sent {
  const { query, headers, body = "" } = call.changes ?? {};
  const message = compress(encoded(call, format, maxBytes), format);
  const isText = format.codec === "json" && format.compression === "identity";
  const parameters: NonNullable<typeof query> = {
    connect: "v1",
    base64: isText ? undefined : "1",
    compression: isText || format.compression === "identity" ? undefined : format.compression,
    encoding: format.codec,
    message: isText ? encodeURIComponent(message.toString()) : message.toString("base64url"),
    ...query,
  };
  const pairs = Object.entries(parameters).flatMap(([name, value]) =>
    [value ?? []].flat().map((each) => `${name}=${each}`),
  );
  const accepted = format.compression === "identity" ? {} : { "accept-encoding": format.compression };
  const fields = Object.entries({ ...accepted, ...timeLimit(call, format), ...headers });
  return {
    http: format.http,
    method: "GET",
    path: `/${ScriptService.typeName}/${method}?${pairs.join("&")}`,
    headers: Object.fromEntries(fields.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))),
    body: Buffer.from(body),
  };
}

/** Returns the media type of a call and of its answer. */
export function mediaType({ protocol, codec }: Format, method: string): string {
  if (protocol !== "connect") return `application/${protocol}+${codec}`;
  return isUnary(method) ? `application/${codec}` : `application/connect+${codec}`;
}

/** Returns the prefix of the headers that name compressions. */
export function compressionPrefix({ protocol }: Format, method: string): string {
  if (protocol !== "connect") return "grpc-";
  return isUnary(method) ? "" : "connect-";
}

function headersOf(format: Format, method: string): Record<string, string> {
  const prefix = compressionPrefix(format, method);
  const content = prefix === "grpc-" ? "grpc-encoding" : `${prefix}content-encoding`;
  const compressions = { [content]: format.compression, [`${prefix}accept-encoding`]: format.compression };
  return {
    "content-type": mediaType(format, method),
    ...(format.compression === "identity" ? {} : compressions),
    ...(format.protocol === "grpc" ? { te: "trailers" } : {}),
    ...(format.protocol === "connect" ? { "connect-protocol-version": "1" } : {}),
  };
}

function timeLimit({ timeLimitMs }: ConformanceCase, { protocol }: Format): Record<string, string> {
  if (timeLimitMs === undefined) return {};
  return protocol === "connect" ? { "connect-timeout-ms": `${timeLimitMs}` } : { "grpc-timeout": `${timeLimitMs}m` };
}

function bodyOf(call: ConformanceCase, method: string, format: Format, message: Buffer): Buffer {
  if (!hasEnvelopes(format, method)) return compress(message, format);
  const envelopes = call.changes?.envelopes ?? [{}];
  return Buffer.concat(envelopes.map((each) => enveloped(each, message, format)));
}

function enveloped({ flags, length, message: text }: Envelope, script: Buffer, format: Format): Buffer {
  const message = text === undefined ? compress(script, format) : Buffer.from(text, "latin1");
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(flags ?? (text === undefined && format.compression !== "identity" ? 1 : 0));
  prefix.writeUInt32BE(length ?? message.length, 1);
  return Buffer.concat([prefix, message]);
}

function encoded({ script = {}, json, bytesOverLimit }: ConformanceCase, format: Format, maxBytes: number): Buffer {
  const message = create(ScriptSchema, script);
  const bytes = json === undefined ? encode(message, format) : Buffer.from(json);
  return bytesOverLimit === undefined ? bytes : lengthened(message, format, maxBytes + bytesOverLimit);
}

/** Lengthens the message: by blanks in JSON, in the binary form by the field `request_padding`. */
function lengthened(message: Script, format: Format, length: number): Buffer {
  const bytes = encode(message, format);
  if (format.codec === "json") return Buffer.concat([bytes, Buffer.alloc(length - bytes.length, " ")]);
  const prefixBytes = 3;
  const requestPadding = new Uint8Array(length - bytes.length - prefixBytes);
  return encode({ ...message, requestPadding }, format);
}

function encode(message: Message & Script, { codec }: Format): Buffer {
  return Buffer.from(codec === "json" ? toJsonString(ScriptSchema, message) : toBinary(ScriptSchema, message));
}

function compress(bytes: Buffer, { compression }: Format): Buffer {
  if (compression === "identity") return bytes;
  return compression === "gzip" ? gzipSync(bytes) : brotliCompressSync(bytes);
}
