import { expect, test } from "vitest";
import { makeService } from "./support/make-service.js";
import { bind, refusal } from "./support/outcomes.js";

const headers = { "content-type": "application/json" };

test("an enumeration value is a name in a body and in a query, never a number", async () => {
  expect(await meant({ genre: "ESSAY" })).toEqual({ genre: "ESSAY" });
  expect(await refused({ genre: 2 })).toBe("INVALID_TYPE genre");
  expect(await refused({ genre: "2" })).toBe("INVALID_VALUE genre");
  expect(await refused({ genre: "essay" })).toBe("INVALID_VALUE genre");
  expect(await refusal("GET", "/v1/kinds/x?genre=2")).toMatchObject({ violations: "INVALID_VALUE genre" });
});

test("bytes are base64 with the standard alphabet and padding, in a body and in a query", async () => {
  expect(await meant({ data: "+/8=" })).toEqual({ data: "+/8=" });
  expect(await refused({ data: "+/8" })).toBe("INVALID_FORMAT data");
  expect(await refused({ data: "-_8=" })).toBe("INVALID_FORMAT data");
  expect(await refused({ data: "+/9=" })).toBe("INVALID_FORMAT data");
  expect(await refusal("GET", "/v1/kinds/x?data=%2B%2F8%3D")).toBe("answered");
  expect(await refusal("GET", "/v1/kinds/x?data=-_8%3D")).toMatchObject({ violations: "INVALID_FORMAT data" });
});

test("the T and Z of a date-time may be lower case, and nothing else may vary", async () => {
  expect(await meant({ at: "2026-01-31t08:00:00z" })).toEqual({ at: "2026-01-31T08:00:00Z" });
  expect(await refused({ at: "2026-01-31 08:00:00Z" })).toBe("INVALID_DATE_TIME at");
});

test("a body is required even if all members are optional", async () => {
  const details = { reason: "MALFORMED", violations: "" };
  expect(await refusal("POST", "/v1/kinds", { headers, body: "" })).toEqual(details);
  expect(await refusal("POST", "/v1/kinds", { headers, body: "{}" })).toBe("answered");
});

test("64-bit integers can be strings or numbers, other ones only numbers", async () => {
  expect(await meant({ i64: "5", u64: "5" })).toEqual({ i64: "5", u64: "5" });
  expect(await refused({ i32: "5" })).toBe("INVALID_TYPE i32");
});

test("a duration at the limits of its range keeps its fraction when read and written", async () => {
  for (const lasts of ["315576000000.999999999s", "-315576000000.999999999s", "-0.000000001s"]) {
    expect(await meant({ lasts })).toEqual({ lasts });
  }
  expect(await refused({ lasts: "315576000001s" })).toBe("OUT_OF_RANGE lasts");
});

test("null is not a value; an absent member is omitted", async () => {
  expect(await refused({ id: null, child: null, numbers: null })).toBe(
    "INVALID_TYPE id, INVALID_TYPE numbers, INVALID_TYPE child",
  );
});

test("a member has only its JSON name, a query parameter either of its names", async () => {
  expect(await refused({ opt_text: "x" })).toBe("UNKNOWN_FIELD opt_text");
  expect(await refusal("GET", "/v1/kinds/x?opt_text=x")).toBe("answered");
  expect(await refusal("GET", "/v1/kinds/x?optText=x")).toBe("answered");
});

test("an update mask has field names in lowerCamelCase, and * for all", async () => {
  const patch = "/v1/shelves/a/books/b:rename?updateMask=";
  expect(await refusal("PATCH", `${patch}title,publishedAt`, { headers, body: "{}" })).toBe("answered");
  expect(await refusal("PATCH", `${patch}*`, { headers, body: "{}" })).toBe("answered");
  expect(await refusal("PATCH", `${patch}published_at`, { headers, body: "{}" })).toMatchObject({
    violations: "INVALID_FORMAT updateMask",
  });
});

async function meant(body: object): Promise<unknown> {
  const service = makeService({ name: "Post", rule: "POST /a", body: "*" });
  return (await bind("POST", "/a", { headers, body: JSON.stringify(body) }, service))?.message;
}

async function refused(body: object): Promise<string> {
  const outcome = await refusal("POST", "/v1/kinds", { headers, body: JSON.stringify(body) });
  return outcome === "answered" ? outcome : outcome.violations;
}
