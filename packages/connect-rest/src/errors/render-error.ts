import { Code, ConnectError, type ContextValues } from "@connectrpc/connect";
import { plainHeaders } from "../raw-headers.js";
import { RestError, type RestErrorReason } from "../rest-error.js";
import type { RestResponse } from "../rest-message.js";
import type { Route } from "../routes/routes.js";

/** The known data about the failed request. */
export interface ErrorContext {
  readonly values: ContextValues;
  /** Undefined if no route matched. */
  readonly route: Route | undefined;
}

/** Renders the answer to an error: a {@link RestError}, or an error that an interceptor or implementation threw. */
export type RenderError = (error: unknown, context: ErrorContext) => RestResponse;

/** The gRPC code and the HTTP status of each reason of a RestError. Several reasons can have the same code. */
const codes: Readonly<Record<RestErrorReason, readonly [code: Code, status: number]>> = {
  NOT_FOUND: [Code.NotFound, 404],
  METHOD_NOT_ALLOWED: [Code.Unimplemented, 405],
  MALFORMED: [Code.InvalidArgument, 400],
  UNSUPPORTED_MEDIA_TYPE: [Code.InvalidArgument, 415],
  TOO_LONG: [Code.ResourceExhausted, 413],
  INVALID: [Code.InvalidArgument, 400],
};

/** The HTTP statuses of google.rpc.Code (google/rpc/code.proto). */
const statuses: Readonly<Record<Code, number>> = {
  [Code.Canceled]: 499,
  [Code.Unknown]: 500,
  [Code.InvalidArgument]: 400,
  [Code.DeadlineExceeded]: 504,
  [Code.NotFound]: 404,
  [Code.AlreadyExists]: 409,
  [Code.PermissionDenied]: 403,
  [Code.ResourceExhausted]: 429,
  [Code.FailedPrecondition]: 400,
  [Code.Aborted]: 409,
  [Code.OutOfRange]: 400,
  [Code.Unimplemented]: 501,
  [Code.Internal]: 500,
  [Code.Unavailable]: 503,
  [Code.DataLoss]: 500,
  [Code.Unauthenticated]: 401,
};

/** An error with its HTTP status and its google.rpc.Code. */
export interface ClassifiedError {
  readonly status: number;
  readonly code: Code;
  /** A sentence about the error. Callers may see this sentence. */
  readonly detail: string;
  /** The error itself; undefined if callers must not see its text. */
  readonly error: RestError | ConnectError | undefined;
}

/**
 * Classifies an error. Callers see the texts of a RestError and of a ConnectError only. Any other error becomes
 * `internal` with a fixed text, because its message may contain internal data.
 */
export function classifyError(error: unknown): ClassifiedError {
  if (error instanceof RestError) {
    const [code, status] = codes[error.reason];
    return { status, code, detail: error.detail, error };
  }
  if (error instanceof ConnectError) {
    return { status: statuses[error.code], code: error.code, detail: error.rawMessage, error };
  }
  return { status: 500, code: Code.Internal, detail: "The server failed.", error: undefined };
}

/** Returns the name of a code in google.rpc.Code, such as "INVALID_ARGUMENT". */
export function codeName(code: Code): string {
  if (code === Code.Canceled) return "CANCELLED";
  return (Code[code] ?? "Unknown").replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
}

/** Headers that describe one HTTP message or its connection, so they must not be copied to another message. */
const headersOfMessage = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Returns the metadata of a ConnectError as headers; {} for other errors. The metadata of an error from another server
 * contains all headers of that server's answer. Headers about the body or the connection of that answer are omitted.
 */
export function errorHeaders({ error }: ClassifiedError): RestResponse["headers"] {
  if (!(error instanceof ConnectError)) return {};
  return Object.fromEntries(
    Object.entries(plainHeaders(error.metadata)).filter(([name]) => !headersOfMessage.has(name)),
  );
}
