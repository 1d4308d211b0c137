import { expect, test } from "vitest";
import { addFinding, addUnknownMember, createFindings, indexStep } from "../../../src/rest/violations/findings.js";
import { orderViolations } from "../../../src/rest/violations/order-violations.js";
import { KindsSchema } from "../../gen/library/v1/library_pb.js";

const at = (text: string, order: number) => ({ parent: undefined, step: { kind: "member", text, order } as const });

test("violations stand in the order of the fields, path by path, whoever found them", () => {
  const findings = createFindings();
  addUnknownMember(findings, undefined, "zeta");
  addUnknownMember(findings, undefined, "alpha");
  addFinding(findings, "INVALID_TYPE", { parent: at("numbers", 16), step: indexStep(10) }, "");
  addFinding(findings, "INVALID_TYPE", { parent: at("numbers", 16), step: indexStep(9) }, "");
  const judged = ["numbers[2]", "child.numbers[0]", "child.id", "child", "choice", 'counts["a.b"]', "id", "nope"];
  expect(fields(findings, judged)).toEqual([
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

test("what a validator says at, below or above a path that could not be read is left out", () => {
  const findings = createFindings();
  addFinding(findings, "INVALID_TYPE", { parent: at("child", 35), step: at("child", 35).step }, "");
  const judged = ["", "child", "child.child", "child.child.id", "child.childless", "childish", "child.id"];
  expect(fields(findings, judged)).toEqual(["child.id", "child.child", "child.childless", "childish"]);
});

test("what it says of the parents of an unknown member is not", () => {
  const findings = createFindings();
  addUnknownMember(findings, at("child", 35), "nope");
  expect(fields(findings, ["", "child", "id"])).toEqual(["", "id", "child", "child.nope"]);
});

test("an answer lists at most a hundred", () => {
  const judged = Array.from({ length: 150 }, (_, index) => `numbers[${index}]`);
  expect(fields(createFindings(), judged)).toEqual(judged.slice(0, 100));
});

function fields(findings: ReturnType<typeof createFindings>, judged: readonly string[]): string[] {
  const violations = judged.map((field) => ({ code: "REQUIRED" as const, field, message: "" }));
  return orderViolations(KindsSchema, findings.items, violations).map(({ field }) => field);
}
