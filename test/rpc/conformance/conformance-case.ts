import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ScriptSchema } from "../../gen/script/v1/script_pb.js";
import type { Format, FormatLimits } from "./formats.js";

/** The names of the codes, as Connect spells them. */
export type CodeName =
  | "canceled"
  | "unknown"
  | "invalid_argument"
  | "deadline_exceeded"
  | "not_found"
  | "already_exists"
  | "permission_denied"
  | "resource_exhausted"
  | "failed_precondition"
  | "aborted"
  | "out_of_range"
  | "unimplemented"
  | "internal"
  | "unavailable"
  | "data_loss"
  | "unauthenticated";

/** An item of an enveloped body: flags, length and message. */
export interface Envelope {
  /** Default: 1 for a compressed message, else 0. */
  readonly flags?: number;
  /** Default: the length of the message. */
  readonly length?: number;
  /** Default: the script, encoded and compressed as the format says. */
  readonly message?: string;
}

/** Deviations of a request from a correct call. A header without a value is left out. */
export interface RequestChanges {
  readonly verb?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>;
  /** The items of the body, where the method has an enveloped body. */
  readonly envelopes?: readonly Envelope[];
  /** The body, byte by byte: each character is one byte. */
  readonly body?: string;
  /** Raw values of parameters in the query of a call by GET. A parameter without a value is left out. */
  readonly query?: Readonly<Record<string, string | string[] | undefined>>;
  /** Removes this many bytes from the end of the body. */
  readonly cutOff?: number;
}

/** Metadata: each value is that of a header line, with the values of repeated headers joined. */
export type Metadata = Readonly<Record<string, string>>;

/** The answer to a call. What is absent must be absent in the answer too, but for the message of an error. */
export interface Expected {
  /** Default: 200, or for an error of a unary method over Connect the status of its code. */
  readonly status?: number;
  /** Data of the answers, in order. */
  readonly answers?: readonly string[];
  /** Whether answers are compressed, if the caller accepts that. */
  readonly isCompressed?: boolean;
  readonly headers?: Metadata;
  readonly trailers?: Metadata;
  /** Metadata of the error itself: headers of a unary method over Connect, otherwise trailers. */
  readonly errorMetadata?: Metadata;
  readonly error?: { readonly code: CodeName; readonly message?: string; readonly details?: readonly string[] };
  /** The call as the method received it, unless the method did not run. */
  readonly seen?: { readonly headers?: Metadata; readonly hasTimeLimit?: boolean };
}

/** What our handler deliberately does otherwise than connect-node: an id in docs/internals/rpc.md. */
export type Difference =
  | "rpc-connect-get"
  | "rpc-grpc-json"
  | "rpc-strict-json"
  | "rpc-strict-values"
  | "rpc-undecodable"
  | "rpc-flags"
  | "rpc-unasked-compression"
  | "rpc-long-time-limits"
  | "rpc-late-methods";

/** One row of the table. It makes a check for each of its methods in each format within its limits. */
export interface ConformanceCase {
  readonly name: string;
  readonly methods: readonly ("Run" | "Read" | "Watch" | "Miss" | "MissStream")[];
  readonly limits?: FormatLimits;
  readonly script?: MessageInitShape<typeof ScriptSchema>;
  /** The encoding of the messages, if it is not that of the format. */
  readonly codec?: Format["codec"];
  /** The request message instead of the script, in JSON. */
  readonly json?: string;
  /** The length of the message before compression, in bytes more than the servers accept. */
  readonly bytesOverLimit?: number;
  readonly timeLimitMs?: number;
  /** Whether Connect sends the call by GET. */
  readonly byGet?: boolean;
  readonly changes?: RequestChanges;
  readonly expected: Expected;
  /** What connect-node answers, if that is deliberately not the same. Undefined: nothing, ever. */
  readonly otherwise?: { readonly difference: Difference; readonly expected: Expected | undefined };
}
