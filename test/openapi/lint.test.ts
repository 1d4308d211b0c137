import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Document, type RulesetDefinition, Spectral } from "@stoplight/spectral-core";
import { Json } from "@stoplight/spectral-parsers";
import { oas } from "@stoplight/spectral-rulesets";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestService, type TestService } from "../support/service.js";

/** Spectral takes seconds for a document of this size, and a machine that does other things as well takes more. */
const TIMEOUT_MS = 120_000;

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
      const config = await createConfig({ extends: ["recommended"] });
      const problems = await lintFromString({ source: texts[listener] ?? "", absoluteRef: "openapi.json", config });
      expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([]);
    });

    test("keeps the recommended rules of Spectral, every one", async () => {
      const spectral = new Spectral();
      spectral.setRuleset({ extends: [[oas as RulesetDefinition, "recommended"]] });
      const found = await spectral.run(new Document(texts[listener] ?? "", Json, "openapi.json"));
      expect(found.map(({ code, message, path }) => [code, message, path.join("/")])).toEqual([]);
    });
  },
);
