import { createConfig, lintFromString } from "@redocly/openapi-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestService, type TestService } from "../support/service.js";

let service: TestService;
let open: TestService;
const texts: Record<string, string> = {};

beforeAll(async () => {
  service = await startTestService();
  texts["public"] = await (await fetch(`${service.baseUrl}/openapi.json`)).text();
  texts["internal"] = await (await fetch(`${service.internalUrl}/openapi.json`)).text();
  open = await startTestService({ PUBLIC_CLINIC_API: "all" });
  texts["public, with the clinic's operations"] = await (await fetch(`${open.baseUrl}/openapi.json`)).text();
});

afterAll(async () => {
  await service.close();
  await open.close();
});

test.each(["public", "internal", "public, with the clinic's operations"])(
  "the OpenAPI document of the %s listener follows all recommended rules of Redocly",
  async (listener) => {
    expect(await problemsOf(texts[listener] ?? "")).toEqual([]);
  },
);

test("an example that violates its schema breaks a rule of Redocly", async () => {
  const text = texts["public"] ?? "";
  const example = /(?="documentType": "CC",\s+"documentNumber":)/;
  expect(text).toMatch(example);
  const found = await problemsOf(text.replace(example, '"other": 1, '));
  expect(found.map(([rule]) => rule)).toEqual(["no-invalid-media-type-examples"]);
});

/** Returns the rule, message and location of each violation of Redocly's recommended rules. */
async function problemsOf(source: string): Promise<unknown[][]> {
  const config = await createConfig({ extends: ["recommended"] });
  const problems = await lintFromString({ source, absoluteRef: "openapi.json", config });
  return problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]);
}
