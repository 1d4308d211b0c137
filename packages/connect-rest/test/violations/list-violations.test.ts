import { describe, expect, test } from "vitest";
import {
  addUnknownField,
  addViolation,
  noViolations,
  type Violations,
} from "../../src/violations/collect-violations.js";
import { fieldStep, indexStep } from "../../src/violations/field-path.js";
import { listViolations } from "../../src/violations/list-violations.js";
import type { Violation } from "../../src/violations/violation.js";
import { KindsSchema } from "../gen/library/v1/library_pb.js";

const at = (name: keyof typeof KindsSchema.field) => ({ parent: undefined, step: fieldStep(KindsSchema.field[name]) });

test("violations have the order of the fields, path by path, whatever reported them", () => {
  const violations = noViolations();
  addUnknownField(violations, undefined, "zeta");
  addUnknownField(violations, undefined, "alpha");
  addViolation(violations, "INVALID_TYPE", { parent: at("numbers"), step: indexStep(10) }, "");
  addViolation(violations, "INVALID_TYPE", { parent: at("numbers"), step: indexStep(9) }, "");
  const judged = ["numbers[2]", "child.numbers[0]", "child.id", "child", "choice", 'counts["a.b"]', "id", "nope"];
  expect(fields(violations, judged)).toEqual([
    "id",
    "numbers[2]",
    "numbers[9]",
    "numbers[10]",
    'counts["a.b"]',
    "choice",
    "child",
    "child.id",
    "child.numbers[0]",
    "zeta",
    "alpha",
    "nope",
  ]);
});

test("violations of the validator at, below or above a path that could not be read are omitted", () => {
  const violations = noViolations();
  addViolation(violations, "INVALID_TYPE", { parent: at("child"), step: at("child").step }, "");
  const judged = ["", "child", "child.child", "child.child.id", "child.childless", "childish", "child.id"];
  expect(fields(violations, judged)).toEqual(["child.id", "child.child", "child.childless", "childish"]);
});

test("its violations of the parents of an unknown member are kept", () => {
  const violations = noViolations();
  addUnknownField(violations, at("child"), "nope");
  expect(fields(violations, ["", "child", "id"])).toEqual(["", "id", "child", "child.nope"]);
});

describe("an answer lists a hundred", () => {
  test("and states how many others there are", () => {
    const judged = Array.from({ length: 100 }, (_, index) => `numbers[${index}]`);
    const list = (count: number) => {
      const found = noViolations();
      for (let i = 0; i < count; i++) addUnknownField(found, undefined, `x${i}`);
      return listViolations(KindsSchema, judged.toReversed().map(violationAt), found.items);
    };
    expect(list(0).map(({ field }) => field)).toEqual(judged);
    const more = (message: string) => [...judged.map(violationAt), { code: "MORE_ERRORS", field: "", message }];
    expect(list(1)).toEqual(more("1 more error is not listed"));
    expect(list(31)).toEqual(more("31 more errors are not listed"));
  });

  test("the first ones in the order of the fields, in whatever order they were found", () => {
    const found = noViolations();
    for (let i = 0; i < 150; i++) addUnknownField(found, undefined, `x${i}`);
    addViolation(found, "INVALID_TYPE", at("id"), "");
    expect(fields(found, ["id", "i32"]).slice(0, 3)).toEqual(["id", "i32", "x0"]);
  });

  test("and omits those of a value that could not be read, however many came before it", () => {
    const found = noViolations();
    for (let i = 0; i < 5000; i++) {
      addViolation(found, "INVALID_TYPE", { parent: at("numbers"), step: indexStep(i) }, "");
    }
    addViolation(found, "INVALID_TYPE", at("i32"), "");
    const list = listViolations(KindsSchema, ["i32", "numbers", "numbers[4999]"].map(violationAt), found.items);
    expect(list[0]).toMatchObject({ code: "INVALID_TYPE", field: "i32" });
    expect(list.at(-1)).toMatchObject({ message: "4901 more errors are not listed" });
  });
});

function fields(found: Violations, judged: readonly string[]): string[] {
  return listViolations(KindsSchema, judged.map(violationAt), found.items).map(({ field }) => field);
}

function violationAt(field: string): Violation {
  return { code: "REQUIRED", field, message: "" };
}
