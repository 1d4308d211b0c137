import { describe, expect, test } from "vitest";
import { CupoError, conflict, type FieldError, staleVersion, validationFailed } from "../../src/errors.js";
import { detailOf } from "../../src/problems/detail.js";

const required: FieldError = { code: "REQUIRED", field: "phone", message: "the field is required" };
const date: FieldError = {
  code: "INVALID_DATE",
  field: "holidayDates[2]",
  message: "the value must be a valid ISO 8601 date",
};
const range: FieldError = {
  code: "INVALID_RANGE",
  field: "validTo",
  message: "validTo must not be before validFrom",
};
const unknown: FieldError = {
  code: "UNKNOWN_FIELD",
  field: "Ana López 1032456789",
  message: "unknown field",
};

describe("the detail of an error starts with the first violation", () => {
  test.each<[string, readonly FieldError[]]>([
    ["phone is required.", [required]],
    ["phone is required; 1 more.", [required, date]],
    ["holidayDates[2] must be a valid ISO 8601 date; 4 more.", [date, required, required, required, required]],
    ["validTo must not be before validFrom.", [range]],
    ["The request must be an object.", [{ code: "INVALID_TYPE", field: "", message: "the value must be an object" }]],
  ])("%s", (detail, errors) => {
    expect(detailOf(validationFailed(errors))).toBe(detail);
  });

  test("and states the smallest number of further ones if not all are listed", () => {
    const more: FieldError = { code: "MORE_ERRORS", field: "", message: "27 more errors are not listed" };
    expect(detailOf(validationFailed([...Array.from({ length: 100 }, () => required), more]))).toBe(
      "phone is required; at least 100 more.",
    );
  });

  test("and names the field of a conflict before its reason", () => {
    const taken = { code: "SLOT_OCCUPIED", field: "optionToken", message: "another appointment has the slot" } as const;
    expect(detailOf(conflict(taken))).toBe("optionToken: another appointment has the slot.");
  });

  test("but never the name of an unknown member, which the caller chose", () => {
    expect(detailOf(validationFailed([unknown, required]))).toBe("The request has an unknown member; 1 more.");
  });
});

test("an explicit detail is kept, and an error without field errors has none", () => {
  expect(detailOf(new CupoError("INVALID_REQUEST", { detail: "The body is empty.", errors: [required] }))).toBe(
    "The body is empty.",
  );
  expect(detailOf(new CupoError("OPTION_EXPIRED"))).toBeUndefined();
});

test("a stale version names the current one and where to read it", () => {
  expect(detailOf(staleVersion(7, "survivorExpectedVersion"))).toBe(
    "survivorExpectedVersion: the resource is at version 7 now: read it with the Get operation of the clinic's API, or take it " +
      "from the response to its last write, check that the change still applies, and send 7.",
  );
});
