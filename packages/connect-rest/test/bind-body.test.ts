import { toJson } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import type { RestHandlerOptions } from "../src/handler.js";
import { makeService } from "./support/make-service.js";
import { bind, refusal } from "./support/outcomes.js";
import { startServer } from "./support/start-server.js";

const json = { "content-type": "application/json" };

describe("a body is malformed", () => {
  test.each([
    ["", "The body is empty; JSON was expected."],
    ["{", "The body is not JSON at character 2: a member name was expected."],
    ["title=x", "The body is not JSON at character 1: a value was expected."],
    ["\ufeff{}", "The body is not JSON at character 1: a value was expected."],
    ['{"id":"x","id":"x"}', "The body is not JSON at character 11: the object already has a member of this name."],
    [Buffer.from([0x22, 0xff, 0x22]), "The body is not UTF-8."],
    [Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), "The body is not UTF-8."],
    [`${"[".repeat(17)}${"]".repeat(17)}`, "The body is not JSON at character 17: nested deeper than 16."],
  ])("%j", async (body, detail) => {
    const { send } = await startServer();
    const { status, text } = await send("POST", "/v1/kinds", { headers: json, body });
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ reason: "MALFORMED", detail });
  });

  test("if it is too long", async () => {
    const { send } = await startServer();
    const { status, text } = await send("POST", "/v1/kinds", { headers: json, body: `"${"x".repeat(999)}"` });
    expect(status).toBe(413);
    expect(JSON.parse(text)).toMatchObject({ reason: "TOO_LONG", detail: "The body is longer than 1000 bytes." });
  });

  test("if the operation accepts none", async () => {
    const { send } = await startServer();
    const { text } = await send("GET", "/v1/books/x", { headers: { "content-length": "2" }, body: "{}" });
    expect(JSON.parse(text)).toMatchObject({ reason: "MALFORMED", detail: "This operation takes no body." });
    const chunked = await send("GET", "/v1/books/x", { headers: { "transfer-encoding": "chunked" }, body: "{}" });
    expect(JSON.parse(chunked.text)).toMatchObject({ reason: "MALFORMED", detail: "This operation takes no body." });
    const empty = await send("DELETE", "/v1/shelves/a/books/x", {
      headers: { "transfer-encoding": "chunked" },
      body: "",
    });
    expect(empty.status).toBe(200);
  });
});

describe("a body is invalid", () => {
  test.each([
    ["POST", "/v1/kinds", "[]", "INVALID_TYPE "],
    ["POST", "/v1/shelves/a/books", "[]", "INVALID_TYPE book"],
    ["POST", "/v1/shelves/a/books", '{"shelf":"a","title":1}', "INVALID_TYPE book.title, UNKNOWN_FIELD book.shelf"],
    ["PATCH", "/v1/shelves/a/books/b", '{"shelf":"a","id":"b"}', "UNKNOWN_FIELD shelf, UNKNOWN_FIELD id"],
    ["PATCH", "/v1/shelves/a/books/b", '{"updateMask":"title"}', "UNKNOWN_FIELD updateMask"],
    ["PATCH", "/v1/shelves/a/books/b:rename", '{"name":"x"}', "UNKNOWN_FIELD book.name"],
    [
      "PATCH",
      "/v1/shelves/a/books/b",
      '{"expected_version":1,"title":null}',
      "INVALID_TYPE title, UNKNOWN_FIELD expected_version",
    ],
  ])("%s %s with %s", async (method, path, body, violations) => {
    expect(await refusal(method, path, { headers: json, body })).toEqual({ reason: "INVALID", violations });
  });

  test("with the violations that the validator finds in the rest", async () => {
    const judged: string[] = [];
    const validate: NonNullable<RestHandlerOptions["validate"]> = (schema) => (message) => {
      judged.push(JSON.stringify(toJson(schema, message)));
      return ["title", "author.addresses[1].city", "expectedVersion", "tags[0]", "", "author"].map((field) => ({
        code: "REQUIRED",
        field,
        message: "must be there",
      }));
    };
    const body = '{"nope":1,"tags":["x",2],"author":{"addresses":[{"city":1}]}}';
    const outcome = await refusal("PATCH", "/v1/shelves/a/books/b", { headers: json, body }, { validate });
    const violations =
      "REQUIRED title, REQUIRED tags[0], INVALID_TYPE tags[1], REQUIRED expectedVersion, INVALID_TYPE author.addresses[0].city, REQUIRED author.addresses[1].city, UNKNOWN_FIELD nope";
    expect(outcome).toEqual({ reason: "INVALID", violations });
    expect(judged).toEqual([
      '{"shelf":"a","id":"b","tags":["x",""],"updateMask":"tags,author","author":{"addresses":[{}]}}',
    ]);
  });

  test("but is malformed if the validator rejects a field of the path", async () => {
    const validate = () => () => [{ code: "REQUIRED" as const, field: "id", message: "must be good" }];
    const outcome = await refusal(
      "PATCH",
      "/v1/shelves/a/books/b",
      { headers: json, body: '{"nope":1}' },
      { validate },
    );
    expect(outcome).toEqual({ reason: "MALFORMED", violations: "REQUIRED id" });
  });

  test("and the validator is not called if everything could be read", async () => {
    const validate = () => () => expect.unreachable();
    const outcome = await refusal("POST", "/v1/kinds", { headers: json, body: "{}" }, { validate });
    expect(outcome).toBe("answered");
  });
});

describe("a list or a map that is required", () => {
  const reading = { body: "reading", input: ".library.v1.UpdateReadingRequest" };
  const put = makeService({ name: "Put", rule: "PUT /a", ...reading });
  const patch = makeService({ name: "Patch", rule: "PATCH /a", ...reading });
  const post = makeService({ name: "Post", rule: "POST /a", ...reading, body: "*" });

  test("must be present, even if it is empty", async () => {
    const violations = "REQUIRED reading.readers, REQUIRED reading.notes";
    expect(await refusal("PUT", "/a", { headers: json, body: "{}" }, { services: [put] })).toMatchObject({
      violations,
    });
    const body = '{"labels":[],"reading":{"readers":[],"notes":{},"next":{}}}';
    expect(await refusal("POST", "/a", { headers: json, body }, { services: [post] })).toMatchObject({
      violations: "REQUIRED reading.next.readers, REQUIRED reading.next.notes",
    });
    expect(await bind("PUT", "/a", { headers: json, body: '{"readers":[],"notes":{}}' }, put)).toMatchObject({
      message: { reading: {} },
    });
  });

  test("may be absent in a PATCH of its resource, because clients omit empty ones", async () => {
    const body = '{"title":"x","next":{"title":"y"}}';
    expect(await bind("PATCH", "/a?updateMask=*", { headers: json, body }, patch)).toMatchObject({
      message: { reading: { title: "x", next: { title: "y" } }, updateMask: "*" },
    });
  });
});

test("the body can be a single field that is a list", async () => {
  const service = makeService({ name: "Put", rule: "PUT /a/{id}", body: "numbers" });
  expect(await bind("PUT", "/a/x", { headers: json, body: "[1,2]" }, service)).toEqual({
    method: "Put",
    message: { id: "x", numbers: [1, 2] },
  });
});

test("an update mask is an ordinary field of a method other than PATCH", async () => {
  const service = makeService({ name: "Put", rule: "PUT /a", body: "*", input: ".library.v1.UpdateBookRequest" });
  const init = { headers: json, body: '{"title":"x","updateMask":"tags"}' };
  expect(await bind("PUT", "/a", init, service)).toEqual({
    method: "Put",
    message: { title: "x", updateMask: "tags" },
  });
});
