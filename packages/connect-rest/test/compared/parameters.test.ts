import { describe, expect, test } from "vitest";
import type { RestHandlerOptions } from "../../src/handler.js";
import { outcomeOf } from "./kinds-outcome.js";
import { different, ignored, queries } from "./parameters.js";

const protojson = { profile: "protojson" } as const;

describe("the query", () => {
  for (const [query, lenient, strict = lenient] of queries) {
    test(`${query} in the protojson profile`, async () => {
      expect(await read(query, protojson)).toEqual(lenient);
    });

    test(`${query} in the strict profile`, async () => {
      expect(await read(query, {})).toEqual(strict);
    });
  }

  test.each(different)("%s, unlike in %s (%s)", async (query, _theirs, _difference, ours) => {
    expect(await read(query, protojson)).toEqual(ours);
    expect(await read(query, {})).toEqual(ours);
  });

  test.each(ignored)("%s without its unknown names", async (query, ours) => {
    expect(await read(query, { ...protojson, ignoreUnknownFields: true })).toEqual(ours);
  });
});

function read(query: string, options: Partial<RestHandlerOptions>): Promise<unknown> {
  return outcomeOf({ name: "Get", rule: "GET /kinds" }, options, "GET", `/kinds?${query}`);
}
