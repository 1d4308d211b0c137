import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { problemJson } from "../../src/errors/problem-json.js";
import { RestError } from "../../src/rest-error.js";
import { BookSchema } from "../gen/library/v1/library_pb.js";
import { rendered } from "../support/rendering.js";

describe("a Problem document", () => {
  test("lists every violation, with the reason of the transcoder", () => {
    const violations = [
      { code: "INVALID_TYPE", field: "a.b[0]", message: "must be a string" },
      { code: "REQUIRED", field: "c", message: "is required" },
    ];
    expect(rendered(problemJson(), new RestError("INVALID", "The body is invalid.", { violations }))).toEqual({
      status: 400,
      headers: { "content-type": "application/problem+json" },
      json: {
        type: "about:blank",
        title: "Bad Request",
        status: 400,
        detail: "The body is invalid.",
        code: "INVALID_ARGUMENT",
        reason: "INVALID",
        errors: violations,
      },
    });
  });

  test.each([
    ["MALFORMED", 400, "Bad Request"],
    ["TOO_LONG", 413, "Content Too Large"],
    ["UNSUPPORTED_MEDIA_TYPE", 415, "Unsupported Media Type"],
  ] as const)("of %s differs from the others by status and reason", (reason, status, title) => {
    const { json } = rendered(problemJson(), new RestError(reason, "No."));
    expect(json).toMatchObject({ status, title, reason });
    expect(json).not.toHaveProperty("errors");
  });

  test("of a ConnectError has its message, details and metadata", () => {
    const details = [{ desc: BookSchema, value: { title: "Lost" } }];
    const error = new ConnectError("no such book", Code.NotFound, { "x-shelf": "7" }, details);
    expect(rendered(problemJson(), error)).toEqual({
      status: 404,
      headers: { "content-type": "application/problem+json", "x-shelf": "7" },
      json: {
        type: "about:blank",
        title: "Not Found",
        status: 404,
        detail: "no such book",
        code: "NOT_FOUND",
        details: [{ "@type": "type.googleapis.com/library.v1.Book", title: "Lost" }],
      },
    });
  });

  test("of any other error says nothing of it", () => {
    expect(rendered(problemJson(), new Error("password")).json).toEqual({
      type: "about:blank",
      title: "Internal Server Error",
      status: 500,
      detail: "The server failed.",
      code: "INTERNAL",
    });
  });

  test("has the type that typeOf chooses from its members", () => {
    const render = problemJson({ typeOf: ({ status, code, reason }) => `/problems/${status}/${code}/${reason ?? ""}` });
    expect(rendered(render, new RestError("TOO_LONG", "No.")).json).toMatchObject({
      type: "/problems/413/RESOURCE_EXHAUSTED/TOO_LONG",
    });
    expect(rendered(render, new Error("no")).json).toMatchObject({ type: "/problems/500/INTERNAL/" });
  });

  test.each(Object.values(Code).filter((code) => typeof code === "number"))("has a title for code %i", (code) => {
    expect(rendered(problemJson(), new ConnectError("", code)).json).not.toMatchObject({ title: "Error" });
  });
});
