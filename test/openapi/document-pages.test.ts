import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { dailyDocument } from "../../src/openapi/document-pages.js";
import { expectProblem } from "../support/problem.js";
import { answerOf, sendRequest } from "../support/rest-request.js";
import { shareTestService, type TestService } from "../support/service.js";

let service: TestService;
let pages: Readonly<Record<string, string>>;

beforeAll(async () => {
  service = await shareTestService();
  pages = { public: `${service.baseUrl}/openapi`, internal: `${service.internalUrl}/openapi` };
});

afterAll(() => service.close());

test("the document is made again when a date begins in Bogotá, not in UTC", async () => {
  let nowMs = Date.parse("2026-11-28T23:59:59Z");
  const document = dailyDocument(
    () => nowMs,
    async (madeAtMs) => ({ madeAtMs }),
  );
  const first = await document();
  nowMs = Date.parse("2026-11-29T04:59:59.999Z");
  expect(await document()).toBe(first);
  nowMs = Date.parse("2026-11-29T05:00:00Z");
  expect(await document()).toEqual({ madeAtMs: nowMs });
});

describe.each(["public", "internal"])("the OpenAPI document of the %s listener", (listener) => {
  const get = async (suffix: string, init: RequestInit = {}) =>
    answerOf(await fetch(`${pages[listener]}${suffix}`, init));

  test("is public, as JSON and as YAML with the same content", async () => {
    const [json, yaml] = await Promise.all([get(".json"), get(".yaml")]);
    expect([json.status, json.headers.get("content-type")]).toEqual([200, "application/json"]);
    expect([yaml.status, yaml.headers.get("content-type")]).toEqual([200, "application/yaml"]);
    expect(json.body["openapi"]).toBe("3.1.1");
    expect(parse(yaml.text)).toEqual(json.body);
  });

  test.each([".json", ".yaml"])("has an ETag at %s, with which clients can revalidate it", async (suffix) => {
    const first = await get(suffix);
    const etag = first.headers.get("etag") ?? "";
    expect(first.headers.get("cache-control")).toBe("no-cache");
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const again = await get(suffix, { headers: { "if-none-match": known } });
      expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", etag]);
    }
    const other = await get(suffix, { headers: { "if-none-match": '"other"' } });
    expect([other.status, other.text]).toEqual([200, first.text]);
  });

  test("has only headers in the answer to HEAD", async () => {
    const headers = { "accept-encoding": "identity" };
    const [whole, head] = await Promise.all([get(".json", { headers }), get(".json", { method: "HEAD", headers })]);
    expect([head.status, head.text]).toEqual([200, ""]);
    expect(head.headers.get("content-length")).toBe(String(Buffer.byteLength(whole.text)));
  });

  test("is compressed to a tenth of its size if the client accepts that", async () => {
    const lengthFor = async (coding: string) => {
      const { headers } = await get(".json", { method: "HEAD", headers: { "accept-encoding": coding } });
      expect(headers.get("content-encoding")).toBe(coding === "identity" ? null : coding);
      return Number(headers.get("content-length"));
    };
    const plain = await lengthFor("identity");
    expect(await lengthFor("gzip")).toBeLessThan(plain / 10);
    expect(await lengthFor("br")).toBeLessThan(plain / 10);
  });

  test("accepts only GET and HEAD", async () => {
    const answer = await sendRequest("POST", `${pages[listener]}.json`, { body: {} });
    expectProblem(answer, 405);
    expect(answer.headers.get("allow")).toBe("GET, HEAD");
  });

  test("is served at its own path only", async () => {
    for (const suffix of ["", ".json/", ".yml"]) expect([suffix, (await get(suffix)).status]).toEqual([suffix, 404]);
  });
});
