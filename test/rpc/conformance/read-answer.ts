import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { fromBinary, fromJsonString } from "@bufbuild/protobuf";
import { type Answer, AnswerSchema } from "../../gen/script/v1/script_pb.js";
import type { Metadata } from "./conformance-case.js";
import type { Received } from "./exchange.js";
import type { Format, FormatLimits } from "./formats.js";
import { connectError, grpcError, parseTrailers, type ReadError } from "./read-error.js";
import { compressionPrefix, isUnary, mediaType } from "./write-request.js";

/** An answer without its form on the wire. */
export interface Outcome {
  readonly status: number;
  readonly answers: readonly Answer[];
  readonly isCompressed: boolean;
  readonly headers: Metadata;
  readonly trailers: Metadata;
  readonly error: ReadError | undefined;
}

type Compression = NonNullable<FormatLimits["compression"]>[number];
type Plain = Pick<Outcome, "answers" | "isCompressed">;

interface Item {
  readonly flags: number;
  readonly bytes: Buffer;
}

const prefixBytes = 5;
const compressedFlag = 1;
/** The flags of the last item of a body, which has the end of a Connect stream or the trailers of gRPC-Web. */
const lastFlags = { connect: 0x02, "grpc-web": 0x80 } as const;
const none: Plain = { answers: [], isCompressed: false };

/** Reads an answer. Throws if it breaks a rule of its protocol. */
export function readAnswer(received: Received, method: string, format: Format): Outcome {
  const { status, headers } = received;
  const isConnectUnary = format.protocol === "connect" && isUnary(method);
  if (isConnectUnary) return readUnaryConnect(received, method, format);
  if (status !== 200) return { status, ...none, ...metadataOf(headers, new Headers()), error: undefined };
  check(mediaType(format, method), headers.get("content-type"));
  const outcome = format.protocol === "grpc" ? readGrpc(received, format) : readLastItem(received, method, format);
  if (isUnary(method)) check(outcome.error === undefined ? 1 : 0, outcome.answers.length);
  return outcome;
}

function readUnaryConnect({ status, headers, body }: Received, method: string, format: Format): Outcome {
  const isTrailer = (name: string) => name.startsWith("trailer-");
  const fields = [...headers];
  const metadata = metadataOf(
    new Headers(fields.filter(([name]) => !isTrailer(name))),
    new Headers(
      fields.filter(([name]) => isTrailer(name)).map(([name, value]) => [name.slice("trailer-".length), value]),
    ),
  );
  const encoding = compressionNamed(headers.get("content-encoding"), format);
  if (status === 200) {
    check(mediaType(format, method), headers.get("content-type"));
    const isCompressed = encoding !== "identity";
    return { status, answers: [decode(inflate(body, encoding), format)], isCompressed, ...metadata, error: undefined };
  }
  const isError = headers.get("content-type") === "application/json";
  const error = isError ? connectError(JSON.parse(inflate(body, encoding).toString())) : undefined;
  return { status, ...none, ...metadata, error };
}

function readGrpc({ status, headers, trailers, body }: Received, format: Format): Outcome {
  const ending = trailers.has("grpc-status") ? trailers : headers;
  return {
    status,
    ...readItems(itemsOf(body), compressionNamed(headers.get("grpc-encoding"), format), format),
    ...metadataOf(headers, ending === headers ? new Headers() : trailers),
    error: grpcError(ending),
  };
}

function readLastItem({ status, headers, trailers, body }: Received, method: string, format: Format): Outcome {
  check(0, [...trailers].length);
  const items = itemsOf(body);
  const last = items.pop();
  const isConnect = format.protocol === "connect";
  check(lastFlags[isConnect ? "connect" : "grpc-web"], (last?.flags ?? 0) & ~compressedFlag);
  const prefix = compressionPrefix(format, method);
  const encoding = compressionNamed(headers.get(`${prefix}${isConnect ? "content-" : ""}encoding`), format);
  const text = plainBytes(last ?? { flags: 0, bytes: body }, encoding).toString();
  const { ending, error } = isConnect ? endOfStream(text) : trailersIn(text);
  return { status, ...readItems(items, encoding, format), ...metadataOf(headers, ending), error };
}

function endOfStream(text: string): { readonly ending: Headers; readonly error: ReadError | undefined } {
  const { metadata = {}, error } = JSON.parse(text) as { metadata?: Record<string, string[]>; error?: object };
  const fields = Object.entries(metadata).flatMap(([name, values]) =>
    values.map((value): [string, string] => [name, value]),
  );
  return { ending: new Headers(fields), error: error && connectError(error) };
}

function trailersIn(text: string): { readonly ending: Headers; readonly error: ReadError | undefined } {
  const ending = parseTrailers(text);
  return { ending, error: grpcError(ending) };
}

function itemsOf(body: Buffer): Item[] {
  const items: Item[] = [];
  for (let at = 0; at < body.length; ) {
    const end = at + prefixBytes + body.readUInt32BE(at + 1);
    if (end > body.length) throw new Error("the answer ends within an item");
    items.push({ flags: body.readUInt8(at), bytes: body.subarray(at + prefixBytes, end) });
    at = end;
  }
  return items;
}

function readItems(items: readonly Item[], encoding: Compression, format: Format): Plain {
  for (const { flags } of items) check(0, flags & ~compressedFlag);
  return {
    answers: items.map((item) => decode(plainBytes(item, encoding), format)),
    isCompressed: items.some(({ flags }) => flags === compressedFlag),
  };
}

function plainBytes({ flags, bytes }: Item, encoding: Compression): Buffer {
  if ((flags & compressedFlag) === 0) return bytes;
  if (encoding === "identity") throw new Error("an item is compressed, but no header names the compression");
  return inflate(bytes, encoding);
}

function inflate(bytes: Buffer, encoding: Compression): Buffer {
  if (encoding === "identity") return bytes;
  return encoding === "gzip" ? gunzipSync(bytes) : brotliDecompressSync(bytes);
}

/** Returns the compression that an answer names. Throws for one that the caller does not accept. */
function compressionNamed(name: string | null, { compression }: Format): Compression {
  if (name === null || name === "identity") return "identity";
  check(compression, name);
  return compression;
}

function decode(bytes: Buffer, { codec }: Format): Answer {
  return codec === "json" ? fromJsonString(AnswerSchema, bytes.toString()) : fromBinary(AnswerSchema, bytes);
}

/** Keeps the metadata of the test service, and the compressions that a server accepts. */
function metadataOf(headers: Headers, trailers: Headers): Pick<Outcome, "headers" | "trailers"> {
  const kept = (all: Headers) => Object.fromEntries([...all].filter(([name]) => /^x-|accept-encoding$/.test(name)));
  return { headers: kept(headers), trailers: kept(trailers) };
}

function check<T extends string | number | null>(expected: T, found: T): void {
  if (found !== expected) throw new Error(`the answer has ${found}, its protocol requires ${expected}`);
}
