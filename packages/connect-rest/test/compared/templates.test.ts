import { describe, expect, test } from "vitest";
import { parsePathTemplate } from "../../src/routes/path-template.js";
import { different, parsed, refused } from "./templates.js";

describe("a template", () => {
  test.each(parsed)("%s is %s with %s", (source, segments, variables) => {
    expect(shown(source)).toEqual([segments, variables]);
  });

  test.each(refused)("%s is refused", (source) => {
    expect(() => parsePathTemplate(source)).toThrow(/^path template/);
  });

  test.each(different)("%s, which %s takes, is refused: %s", (source) => {
    expect(() => parsePathTemplate(source)).toThrow(/^path template/);
  });
});

function shown(source: string): [segments: string, variables: string] {
  const { segments, variables, verb } = parsePathTemplate(source);
  const parts = segments.map((segment) => {
    return segment.kind === "literal" ? segment.text : { single: "*", rest: "**" }[segment.kind];
  });
  const ofVariables = variables.map(({ fieldPath, start, end }) => `${fieldPath.join(".")}@${start}-${end ?? ""}`);
  return [[...parts, ...(verb === undefined ? [] : [`:${verb}`])].join(" "), ofVariables.join(" ")];
}
