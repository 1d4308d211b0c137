import { fromBinary } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { DetailSchema, type Seen, SeenSchema, StatusSchema } from "../../gen/script/v1/script_pb.js";

/** An error as the caller receives it. */
export interface ReadError {
  /** The name of the code, as Connect spells it. */
  readonly code: string;
  readonly message: string;
  /** The texts of the details of the test service, and the names of other messages. */
  readonly details: readonly string[];
  readonly seen: Seen | undefined;
}

interface PackedDetail {
  readonly type: string;
  readonly value: Uint8Array;
}

/** Reads the JSON of a Connect error (connectrpc.com/docs/protocol, "Error-End-Stream"). */
export function connectError(json: object): ReadError {
  const {
    code,
    message = "",
    details = [],
  } = json as {
    code: string;
    message?: string;
    details?: { type: string; value: string }[];
  };
  const packed = details.map(({ type, value }) => ({ type, value: Buffer.from(value, "base64") }));
  return { code, message, ...detailsIn(packed) };
}

/** Reads the status of gRPC from its trailers (PROTOCOL-HTTP2.md, "Responses"). Returns undefined for OK. */
export function grpcError(trailers: Headers): ReadError | undefined {
  const number = trailers.get("grpc-status") ?? "none";
  if (!/^\d+$/.test(number)) throw new Error(`the grpc-status is ${number}`);
  if (number === "0") return undefined;
  const message = decodeURIComponent(trailers.get("grpc-message") ?? "");
  const status = fromBinary(StatusSchema, Buffer.from(trailers.get("grpc-status-details-bin") ?? "", "base64"));
  if (trailers.has("grpc-status-details-bin") && (`${status.code}` !== number || status.message !== message)) {
    throw new Error(`the status is ${number} ${message}, in its details ${status.code} ${status.message}`);
  }
  const packed = status.details.map(({ typeUrl, value }) => ({ type: typeUrl.replace(/^.*\//, ""), value }));
  return { code: nameOfCode(Number(number)), message, ...detailsIn(packed) };
}

/** Reads the trailers of gRPC-Web, which are lines of text (PROTOCOL-WEB.md). */
export function parseTrailers(text: string): Headers {
  const lines = text.split("\r\n").filter((line) => line !== "");
  return new Headers(
    lines.map((line): [string, string] => [line.split(":")[0] ?? "", line.slice(line.indexOf(":") + 1)]),
  );
}

function detailsIn(packed: readonly PackedDetail[]): Pick<ReadError, "details" | "seen"> {
  const seen = packed.find(({ type }) => type === SeenSchema.typeName);
  const others = packed.filter((each) => each !== seen);
  return {
    details: others.map(({ type, value }) =>
      type === DetailSchema.typeName ? fromBinary(DetailSchema, value).text : type,
    ),
    seen: seen && fromBinary(SeenSchema, seen.value),
  };
}

/** Returns Connect's name of a gRPC code: `InvalidArgument` is `invalid_argument`. */
function nameOfCode(code: number): string {
  return (Code[code] ?? `${code}`).replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}
