import type { UntranslatedRule } from "@cupo/connect-openapi";
import { describe, expect, test } from "vitest";
import { PatientSchema } from "../../src/gen/cupo/access/v1/patient_pb.js";
import { ProblemSchema } from "../../src/gen/cupo/access/v1/problem_pb.js";
import { schemaOptions } from "../../src/openapi/schema-options.js";

const rule: UntranslatedRule = {
  id: "string.made_up",
  message: "must be made up",
  expression: "this.size() > 3",
  definition: PatientSchema.field.fullName,
  reason: "FORM",
};
const describeRule = (change: Partial<UntranslatedRule>) => schemaOptions.untranslated?.({ ...rule, ...change });

describe("a rule that no keyword expresses", () => {
  test("is a sentence if it is a rule of a whole message", () => {
    expect(describeRule({ definition: ProblemSchema })).toBe("Rule: must be made up.");
  });

  test("is left to the comment of the field if it is a pattern with Unicode classes", () => {
    expect(describeRule({ reason: "PATTERN" })).toBeUndefined();
  });

  test("is an error in any other form, and is not omitted", () => {
    expect(() => describeRule({})).toThrow(/^the rule string\.made_up has no form in JSON Schema: this\.size\(\) > 3$/);
  });
});
