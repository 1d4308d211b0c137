import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { expectProblem } from "../support/problem.js";
import { answerOf, sendRequest } from "../support/rest-request.js";
import { startTestService, type TestService } from "../support/service.js";

let service: TestService;
let pages: Readonly<Record<string, string>>;

beforeAll(async () => {
  service = await startTestService();
  pages = { public: `${service.baseUrl}/openapi`, internal: `${service.internalUrl}/openapi` };
});

afterAll(() => service.close());

describe.each(["public", "internal"])("the OpenAPI document of the %s listener", (listener) => {
  const get = async (suffix: string, init: RequestInit = {}) =>
    answerOf(await fetch(`${pages[listener]}${suffix}`, init));

  test("is given to everybody, as JSON and as YAML, which say the same", async () => {
    const [json, yaml] = await Promise.all([get(".json"), get(".yaml")]);
    expect([json.status, json.headers.get("content-type")]).toEqual([200, "application/json"]);
    expect([yaml.status, yaml.headers.get("content-type")]).toEqual([200, "application/yaml"]);
    expect(json.body["openapi"]).toBe("3.1.1");
    expect(parse(yaml.text)).toEqual(json.body);
  });

  test.each([".json", ".yaml"])(
    "has a tag at %s, by which clients ask whether it is still the same",
    async (suffix) => {
      const first = await get(suffix);
      const etag = first.headers.get("etag") ?? "";
      expect(first.headers.get("cache-control")).toBe("no-cache");
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
        const again = await get(suffix, { headers: { "if-none-match": known } });
        expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", etag]);
      }
      const other = await get(suffix, { headers: { "if-none-match": '"other"' } });
      expect([other.status, other.text]).toEqual([200, first.text]);
    },
  );

  test("has headers alone for HEAD", async () => {
    const [whole, head] = await Promise.all([get(".json"), get(".json", { method: "HEAD" })]);
    expect([head.status, head.text]).toEqual([200, ""]);
    expect(head.headers.get("content-length")).toBe(String(Buffer.byteLength(whole.text)));
  });

  test("is for GET and HEAD only", async () => {
    const answer = await sendRequest("POST", `${pages[listener]}.json`, { body: {} });
    expectProblem(answer, 405);
    expect(answer.headers.get("allow")).toBe("GET, HEAD");
  });

  test("is at its own address only", async () => {
    for (const suffix of ["", ".json/", ".yml"]) expect([suffix, (await get(suffix)).status]).toEqual([suffix, 404]);
  });
});
