import { describe, expect, test } from "vitest";
import type { FieldError } from "../../src/errors.js";
import { listedErrors } from "../../src/problems/listed-errors.js";

const unknown = (index: number): FieldError => ({
  code: "NOT_FOUND",
  field: `practitionerIds[${index}]`,
  message: "no practitioner has this id",
});
const some = (count: number) => Array.from({ length: count }, (_, index) => unknown(index));
const more = (message: string): FieldError => ({ code: "MORE_ERRORS", field: "", message });

describe("the listed errors", () => {
  test.each([0, 1, 3])("are all of %i", (count) => {
    expect(listedErrors(some(count), 3)).toEqual(some(count));
  });

  test("are all with the number of those that a validation left out", () => {
    const errors = [...some(3), more("7 more errors are not listed")];
    expect(listedErrors(errors, 3)).toEqual(errors);
  });

  test.each([
    [4, "1 more error is not listed"],
    [6, "3 more errors are not listed"],
  ])("are the first three of %i and the number of the others", (count, message) => {
    expect(listedErrors(some(count), 3)).toEqual([...some(3), more(message)]);
  });

  test("are the first and a lower bound for the others if a validation left some out", () => {
    const errors = [...some(5), more("7 more errors are not listed")];
    expect(listedErrors(errors, 3)).toEqual([...some(3), more("at least 3 more errors are not listed")]);
  });
});
