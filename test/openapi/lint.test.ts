import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Document, type RulesetDefinition, Spectral } from "@stoplight/spectral-core";
import { Json } from "@stoplight/spectral-parsers";
import { oas } from "@stoplight/spectral-rulesets";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestService, type TestService } from "../support/service.js";

/** Spectral takes seconds for a document of this size, and a machine that does other things as well takes more. */
const TIMEOUT_MS = 120_000;
/**
 * What Redocly's `no-invalid-media-type-examples` finds too. Spectral compiles the schema anew for each example, which takes
 * three quarters of its time.
 */
const FOUND_BY_REDOCLY = { "oas3-valid-media-example": "off" } as const;

let service: TestService;
const texts: Record<string, string> = {};

beforeAll(async () => {
  service = await startTestService();
  texts["public"] = await (await fetch(`${service.baseUrl}/openapi.json`)).text();
  texts["internal"] = await (await fetch(`${service.internalUrl}/openapi.json`)).text();
});

afterAll(() => service.close());

describe.each(["public", "internal"])(
  "the OpenAPI document of the %s listener",
  { timeout: TIMEOUT_MS },
  (listener) => {
    test("keeps the recommended rules of Redocly, every one", async () => {
      expect(await problemsOf(texts[listener] ?? "")).toEqual([]);
    });

    test("keeps the recommended rules of Spectral, every one that Redocly does not have", async () => {
      const spectral = new Spectral();
      spectral.setRuleset({ extends: [[oas as RulesetDefinition, "recommended"]], rules: FOUND_BY_REDOCLY });
      const found = await spectral.run(new Document(texts[listener] ?? "", Json, "openapi.json"));
      expect(found.map(({ code, message, path }) => [code, message, path.join("/")])).toEqual([]);
    });
  },
);

test("an example that is not as its schema says breaks a rule of Redocly", async () => {
  const text = texts["public"] ?? "";
  const example = /(?="documentType": "CC",\s+"documentNumber":)/;
  expect(text).toMatch(example);
  const found = await problemsOf(text.replace(example, '"other": 1, '));
  expect(found.map(([rule]) => rule)).toEqual(["no-invalid-media-type-examples"]);
});

/** The rule, the message and the place of each breach of the recommended rules of Redocly. */
async function problemsOf(source: string): Promise<unknown[][]> {
  const config = await createConfig({ extends: ["recommended"] });
  const problems = await lintFromString({ source, absoluteRef: "openapi.json", config });
  return problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]);
}
