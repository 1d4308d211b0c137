import { toJson } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { createRestHandler, type RestHandlerOptions } from "../src/handler.js";
import { systemParameters } from "../src/request-profile.js";
import type { RestService } from "../src/routes/rest-service.js";
import { call } from "./support/call-handler.js";
import { makeService } from "./support/make-service.js";

const protojson = { profile: "protojson" } as const;

describe("in the protojson profile a field of the path wins", () => {
  test.each([
    ["in the whole body", { rule: "PUT /v1/{id}", body: "*" }, { id: "y", i32: 1 }, { id: "x", i32: 1 }],
    ["under its proto name", { rule: "PUT /v1/{opt_text}", body: "*" }, { opt_text: "y" }, { optText: "x" }],
    [
      "in the field that is the body",
      { rule: "PUT /v1/{child.id}", body: "child" },
      { id: "y", i32: 1 },
      { child: { id: "x", i32: 1 } },
    ],
    [
      "in a message of the body",
      { rule: "PUT /v1/{child.id}", body: "*" },
      { child: { id: "y", i32: 1 } },
      { child: { id: "x", i32: 1 } },
    ],
    ["even if its value there is invalid", { rule: "PUT /v1/{id}", body: "*" }, { id: {} }, { id: "x" }],
  ])("%s", async (_, binding, body, meant) => {
    expect(await received(protojson, binding, "PUT", "/v1/x", body)).toEqual(meant);
  });

  test("in the query", async () => {
    const binding = { rule: "GET /v1/{id}" };
    expect(await received(protojson, binding, "GET", "/v1/x?id=y&i32=1")).toEqual({ id: "x", i32: 1 });
  });

  test("which in the strict profile is a violation", async () => {
    const binding = { rule: "PUT /v1/{id}", body: "*" };
    expect(await received({}, binding, "PUT", "/v1/x", { id: "y" })).toMatchObject([{ field: "id" }]);
  });
});

describe("in the protojson profile an update mask", () => {
  const patch = makeService({
    name: "Patch",
    rule: "PATCH /v1/{id}",
    body: "*",
    input: ".library.v1.UpdateBookRequest",
    output: ".library.v1.UpdateBookRequest",
  });

  test.each([
    [
      "is filled from the members, under either of their names",
      { title: "a", expected_version: 1, id: "y" },
      "title,expectedVersion",
    ],
    ["has members that are null, which clears their fields", { title: null }, "title"],
    ["may be sent", { title: "a", updateMask: "tags" }, "tags"],
    [
      "may be sent under its proto name and in snake_case",
      { title: "a", update_mask: "expected_version" },
      "expectedVersion",
    ],
    ["that is null is filled", { title: "a", updateMask: null }, "title"],
  ])("%s", async (_, body, updateMask) => {
    const { status, text } = await call({ services: [patch], ...protojson }, "PATCH", "/v1/x", {
      body: JSON.stringify(body),
    });
    expect([status, JSON.parse(text)]).toMatchObject([200, { id: "x", updateMask }]);
  });
});

describe("query parameters", () => {
  const binding = { rule: "GET /v1/{id}" };

  test("of Google's APIs are ignored in the protojson profile", async () => {
    const query = systemParameters.map((name) => `${encodeURIComponent(name)}=a%3Bb`).join("&");
    expect(await received(protojson, binding, "GET", `/v1/x?${query}&$alt=json&i32=1`)).toEqual({ id: "x", i32: 1 });
  });

  test("of other names are not", async () => {
    for (const name of ["$nope", "$ALT", "alternative"]) {
      expect(await received(protojson, binding, "GET", `/v1/x?${name}=1`)).toMatchObject([{ code: "UNKNOWN_FIELD" }]);
    }
  });

  test("are not ignored in the strict profile", async () => {
    expect(await received({}, binding, "GET", "/v1/x?alt=json")).toMatchObject([
      { code: "UNKNOWN_FIELD", field: "alt" },
    ]);
  });

  test("that the option names are ignored in either profile, unless they are fields", async () => {
    for (const profile of ["strict", "protojson"] as const) {
      const options = { profile, ignoredParameters: ["utm", "i32"] };
      expect(await received(options, binding, "GET", "/v1/x?utm=a&utm=b&i32=1")).toEqual({ id: "x", i32: 1 });
      expect(await received(options, binding, "GET", "/v1/x?alt=json")).toMatchObject([{ field: "alt" }]);
    }
  });

  test("besides a body that is the whole message may be ignored ones only", async () => {
    const post = { rule: "POST /v1/{id}", body: "*" };
    expect(await received(protojson, post, "POST", "/v1/x?alt=json", { i32: 1 })).toEqual({ id: "x", i32: 1 });
    expect(await received(protojson, post, "POST", "/v1/x?i32=1", {})).toMatchObject([{ field: "i32" }]);
  });
});

describe("the option ignoreUnknownFields", () => {
  const lenient = { ...protojson, ignoreUnknownFields: true };

  test("ignores members and parameters that are no fields", async () => {
    const post = { rule: "POST /v1/a", body: "child" };
    const body = { nope: 1, i32: 2, child: { nope: {} } };
    const meant = { flag: true, child: { i32: 2, child: {} } };
    expect(await received(lenient, post, "POST", "/v1/a?flag=true&nope=1&counts=2", body)).toEqual(meant);
  });

  test("belongs to the protojson profile", () => {
    const services = [makeService({ name: "Get", rule: "GET /a" })];
    expect(() => createRestHandler({ services, ignoreUnknownFields: true })).toThrow(
      'the profile "strict" cannot ignore unknown fields; use "protojson"',
    );
  });
});

test("Timestamps in answers have all their digits in the protojson profile, and three in the strict one", async () => {
  const services = [makeService({ name: "Post", rule: "POST /a", body: "*", responseBody: "times" })];
  const digits = ["", ".5", ".123", ".123400", ".000000001", ".120000000"];
  const body = JSON.stringify({ times: digits.map((fraction) => `2026-01-31T08:00:00${fraction}Z`) });
  const written = async (options: Partial<RestHandlerOptions>) => {
    const { text } = await call({ services, ...options }, "POST", "/a", { body });
    return (JSON.parse(text) as string[]).map((time) => time.slice("2026-01-31T08:00:00".length));
  };
  expect(await written(protojson)).toEqual(["Z", ".500Z", ".123Z", ".123400Z", ".000000001Z", ".120Z"]);
  expect(await written({})).toEqual([".000Z", ".500Z", ".123Z", ".123Z", ".000Z", ".120Z"]);
});

/** Sends a request to a method from Kinds to Kinds. Returns the message that the method got, or the violations. */
async function received(
  options: Partial<RestHandlerOptions>,
  binding: { readonly rule: string; readonly body?: string },
  method: string,
  url: string,
  body?: object,
): Promise<unknown> {
  const { service } = makeService({ name: "Echo", ...binding });
  const messages: unknown[] = [];
  const recording: RestService = {
    service,
    implementation: {
      echo: (message: Parameters<typeof toJson>[1]) => {
        messages.push(toJson(service.methods[0]?.input ?? never(), message));
        return {};
      },
    },
  };
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const { status, text } = await call({ ...options, services: [recording] }, method, url, init);
  return status === 200 ? messages[0] : (JSON.parse(text) as { errors: unknown }).errors;
}

function never(): never {
  throw new Error("the service has no method");
}
