import { create, createRegistry, toBinary } from "@bufbuild/protobuf";
import { type Any, AnySchema, anyPack, StructSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { googleRpcStatus } from "../../src/errors/google-rpc-status.js";
import { RestError } from "../../src/rest-error.js";
import { AuthorSchema, BookSchema } from "../gen/library/v1/library_pb.js";
import { rendered } from "../support/rendering.js";

const book = create(BookSchema, { title: "Lost" });

describe("a status of the transcoder's error", () => {
  const violations = [{ code: "INVALID_TYPE", field: "a.b[0]", message: "must be a string" }];

  test("has the HTTP status, the name of the code and every violation", () => {
    expect(rendered(googleRpcStatus(), new RestError("INVALID", "The body is invalid.", { violations }))).toEqual({
      status: 400,
      headers: { "content-type": "application/json" },
      json: {
        error: {
          code: 400,
          message: "The body is invalid.",
          status: "INVALID_ARGUMENT",
          details: [
            {
              "@type": "type.googleapis.com/google.rpc.BadRequest",
              fieldViolations: [{ field: "a.b[0]", description: "must be a string", reason: "INVALID_TYPE" }],
            },
          ],
        },
      },
    });
  });

  test.each([
    ["MALFORMED", 400, "INVALID_ARGUMENT"],
    ["TOO_LONG", 413, "RESOURCE_EXHAUSTED"],
    ["UNSUPPORTED_MEDIA_TYPE", 415, "INVALID_ARGUMENT"],
  ] as const)("of %s differs from the others by its code, and with a domain by its reason", (reason, code, status) => {
    const error = new RestError(reason, "No.");
    expect(rendered(googleRpcStatus(), error).json).toEqual({ error: { code, message: "No.", status } });
    expect(rendered(googleRpcStatus({ domain: "library.example" }), error).json).toMatchObject({
      error: { details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "library.example" }] },
    });
  });

  test("has its ErrorInfo before its violations", () => {
    const error = new RestError("INVALID", "No.", { violations });
    expect(typesIn(rendered(googleRpcStatus({ domain: "library.example" }), error).json)).toEqual([
      "type.googleapis.com/google.rpc.ErrorInfo",
      "type.googleapis.com/google.rpc.BadRequest",
    ]);
  });
});

describe("a status of a ConnectError", () => {
  const own = (value: Any) => new ConnectError("no", Code.NotFound, {}, [{ desc: AnySchema, value }]);

  test("has its message and metadata, and no details if it has none", () => {
    const error = new ConnectError("no such book", Code.NotFound, { "retry-after": "5" });
    expect(rendered(googleRpcStatus({ domain: "library.example" }), error)).toEqual({
      status: 404,
      headers: { "content-type": "application/json", "retry-after": "5" },
      json: { error: { code: 404, message: "no such book", status: "NOT_FOUND" } },
    });
  });

  test("has the details that an implementation threw, without a registry", () => {
    const error = new ConnectError("no", Code.Aborted, {}, [
      { desc: BookSchema, value: { title: "Lost", author: { fullName: "Ana" } } },
      { desc: TimestampSchema, value: { seconds: 0n } },
      { desc: StructSchema, value: { fields: { a: { kind: { case: "boolValue", value: true } } } } },
    ]);
    expect(detailsIn(rendered(googleRpcStatus(), error).json)).toEqual([
      { "@type": "type.googleapis.com/library.v1.Book", title: "Lost", author: { fullName: "Ana" } },
      { "@type": "type.googleapis.com/google.protobuf.Timestamp", value: "1970-01-01T00:00:00Z" },
      { "@type": "type.googleapis.com/google.protobuf.Struct", value: { a: true } },
    ]);
  });

  test("has the details of another server whose type the registry has", () => {
    const error = new ConnectError("no", Code.Aborted);
    error.details = [
      { type: "library.v1.Book", value: toBinary(BookSchema, book) },
      { type: "library.v1.Author", value: toBinary(AuthorSchema, create(AuthorSchema, { fullName: "Ana" })) },
      { type: "library.v1.Book", value: new Uint8Array([255]), debug: { title: "claimed" } },
    ];
    const registry = createRegistry(BookSchema);
    expect(rendered(googleRpcStatus(), error).json).toEqual({ error: { code: 409, message: "no", status: "ABORTED" } });
    expect(detailsIn(rendered(googleRpcStatus({ registry }), error).json)).toEqual([
      { "@type": "type.googleapis.com/library.v1.Book", title: "Lost" },
    ]);
  });

  test("has an Any in a detail only if the registry has its type", () => {
    const error = own(anyPack(BookSchema, book));
    expect(rendered(googleRpcStatus(), error).json).not.toHaveProperty("error.details");
    expect(detailsIn(rendered(googleRpcStatus({ registry: createRegistry(BookSchema) }), error).json)).toEqual([
      {
        "@type": "type.googleapis.com/google.protobuf.Any",
        value: { "@type": "type.googleapis.com/library.v1.Book", title: "Lost" },
      },
    ]);
  });
});

test("a status of any other error says nothing of it", () => {
  expect(rendered(googleRpcStatus({ domain: "library.example" }), new Error("password")).json).toEqual({
    error: { code: 500, message: "The server failed.", status: "INTERNAL" },
  });
});

function detailsIn(json: unknown): readonly { readonly "@type": string }[] {
  return (json as { error: { details: { "@type": string }[] } }).error.details;
}

function typesIn(json: unknown): string[] {
  return detailsIn(json).map((detail) => detail["@type"]);
}
