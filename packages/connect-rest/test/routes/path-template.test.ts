import { expect, test } from "vitest";
import { type PathSegment, parsePathTemplate } from "../../src/routes/path-template.js";

test.each([
  ["/", "", ""],
  ["/a", "a", ""],
  ["/a/b-c_d.e~f", "a b-c_d.e~f", ""],
  ["/a@b!$&'()+,;=", "a@b!$&'()+,;=", ""],
  ["/caf%C3%A9/%20", "café  ", ""],
  ["/*", "*", ""],
  ["/**", "**", ""],
  ["/a/*/b/**", "a * b **", ""],
  ["/{x}", "*", "x@0-1"],
  ["/{x=*}", "*", "x@0-1"],
  ["/a/{x}/b/{y}", "a * b *", "x@1-2 y@3-4"],
  ["/{a.b_1.c}", "*", "a.b_1.c@0-1"],
  ["/{x=a}", "a", "x@0-1"],
  ["/v1/{x=shelves/*/books/*}", "v1 shelves * books *", "x@1-5 multi"],
  ["/v1/{x=shelves/*}/{y=books/*}", "v1 shelves * books *", "x@1-3 multi y@3-5 multi"],
  ["/{x=**}", "**", "x@0- multi"],
  ["/a/{x=b/**}", "a b **", "x@1- multi"],
  ["/a:verb", "a :verb", ""],
  ["/{x}:verb", "* :verb", "x@0-1"],
  ["/{x=**}:a-b", "** :a-b", "x@0- multi"],
])("%s is %s with %s", (source, segments, variables) => {
  const template = parsePathTemplate(source);
  const verb = template.verb === undefined ? [] : [`:${template.verb}`];
  expect([...template.segments.map(show), ...verb].join(" ")).toBe(segments);
  const shown = template.variables.map(
    ({ fieldPath, start, end, multiSegment }) =>
      `${fieldPath.join(".")}@${start}-${end ?? ""}${multiSegment ? " multi" : ""}`,
  );
  expect(shown.join(" ")).toBe(variables);
});

test.each([
  ["", 1, 'expected "/", found the end'],
  ["a", 1, 'expected "/", found "a"'],
  ["//", 2, 'expected a literal, found "/"'],
  ["//a", 2, 'expected a literal, found "/"'],
  ["/a/", 4, "expected a literal, found the end"],
  ["/a b", 3, 'expected the end, "/" or ":", found " "'],
  ["/a?b", 3, 'expected the end, "/" or ":", found "?"'],
  ["/a%2", 3, 'expected the end, "/" or ":", found "%"'],
  ["/%ff", 5, "the preceding literal is not UTF-8"],
  ["/a:b%3Ac", 9, 'the preceding verb contains an encoded ":"'],
  ["/é", 2, 'expected a literal, found "é"'],
  ["/a*", 3, 'expected the end, "/" or ":", found "*"'],
  ["/***", 4, 'expected the end, "/" or ":", found "*"'],
  ["/**/a", 5, "nothing may follow **"],
  ["/**/**", 5, "nothing may follow **"],
  ["/{x=**}/a", 9, "nothing may follow **"],
  ["/{x=**/a}", 8, "nothing may follow **"],
  ["/{}", 3, 'expected a field name, found "}"'],
  ["/{1}", 3, 'expected a field name, found "1"'],
  ["/{a.}", 5, 'expected a field name, found "}"'],
  ["/{a-b}", 4, 'expected "}", found "-"'],
  ["/{a", 4, 'expected "}", found the end'],
  ["/{a=}", 5, 'expected a literal, found "}"'],
  ["/{a=/b}", 5, 'expected a literal, found "/"'],
  ["/{a={b}}", 5, "variables do not nest"],
  ["/{a}b", 5, 'expected the end, "/" or ":", found "b"'],
  ["/a}", 3, 'expected the end, "/" or ":", found "}"'],
  ["/a:", 4, "expected a literal, found the end"],
  ["/a:b:c", 5, 'expected the end, "/" or ":", found ":"'],
  ["/a:b/c", 5, 'expected the end, "/" or ":", found "/"'],
  ["/a:*", 4, 'expected a literal, found "*"'],
  ["/:a", 2, 'expected a literal, found ":"'],
])("%s is rejected at character %i: %s", (source, character, problem) => {
  const message = `path template "${source}", character ${character}: ${problem}`;
  expect(() => parsePathTemplate(source)).toThrow(new Error(message));
});

function show(segment: PathSegment): string {
  return { literal: segment.kind === "literal" ? segment.text : "", single: "*", rest: "**" }[segment.kind];
}
