import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { classifyError, codeName, errorHeaders } from "../../src/errors/render-error.js";
import { RestError, type RestErrorReason } from "../../src/rest-error.js";

describe("an error of the transcoder", () => {
  test.each([
    ["NOT_FOUND", 404, "NOT_FOUND"],
    ["METHOD_NOT_ALLOWED", 405, "UNIMPLEMENTED"],
    ["MALFORMED", 400, "INVALID_ARGUMENT"],
    ["UNSUPPORTED_MEDIA_TYPE", 415, "INVALID_ARGUMENT"],
    ["TOO_LONG", 413, "RESOURCE_EXHAUSTED"],
    ["INVALID", 400, "INVALID_ARGUMENT"],
  ] satisfies [RestErrorReason, number, string][])("%s is %i and %s", (reason, status, code) => {
    const classified = classifyError(new RestError(reason, "A sentence."));
    expect([classified.status, codeName(classified.code), classified.detail]).toEqual([status, code, "A sentence."]);
  });
});

describe("a ConnectError", () => {
  /** The mapping in google/rpc/code.proto. */
  test.each([
    [Code.Canceled, 499, "CANCELLED"],
    [Code.Unknown, 500, "UNKNOWN"],
    [Code.InvalidArgument, 400, "INVALID_ARGUMENT"],
    [Code.DeadlineExceeded, 504, "DEADLINE_EXCEEDED"],
    [Code.NotFound, 404, "NOT_FOUND"],
    [Code.AlreadyExists, 409, "ALREADY_EXISTS"],
    [Code.PermissionDenied, 403, "PERMISSION_DENIED"],
    [Code.ResourceExhausted, 429, "RESOURCE_EXHAUSTED"],
    [Code.FailedPrecondition, 400, "FAILED_PRECONDITION"],
    [Code.Aborted, 409, "ABORTED"],
    [Code.OutOfRange, 400, "OUT_OF_RANGE"],
    [Code.Unimplemented, 501, "UNIMPLEMENTED"],
    [Code.Internal, 500, "INTERNAL"],
    [Code.Unavailable, 503, "UNAVAILABLE"],
    [Code.DataLoss, 500, "DATA_LOSS"],
    [Code.Unauthenticated, 401, "UNAUTHENTICATED"],
  ])("of code %i is %i and %s", (code, status, name) => {
    const classified = classifyError(new ConnectError("A sentence.", code));
    expect([classified.status, codeName(classified.code), classified.detail]).toEqual([status, name, "A sentence."]);
  });

  test("gives its metadata as headers, except those of another message", () => {
    const metadata = new Headers({ "retry-after": "5", "content-type": "application/grpc", "Content-Length": "7" });
    metadata.set("transfer-encoding", "chunked");
    metadata.append("set-cookie", "a=1");
    metadata.append("set-cookie", "b=2");
    const error = new ConnectError("busy", Code.Unavailable, metadata);
    expect(errorHeaders(classifyError(error))).toEqual({ "retry-after": "5", "set-cookie": ["a=1", "b=2"] });
  });
});

test.each([new Error("password"), "password", undefined, { code: 5, rawMessage: "password" }])(
  "any other error is internal, and its text is not shown: %s",
  (thrown) => {
    const { status, code, detail, error } = classifyError(thrown);
    expect([status, code, detail, error]).toEqual([500, Code.Internal, "The server failed.", undefined]);
    expect(errorHeaders({ status, code, detail, error })).toEqual({});
  },
);
