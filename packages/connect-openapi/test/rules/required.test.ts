import type { JsonValue } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { RequiredRulesSchema } from "../gen/museum/v1/rules_pb.js";
import { ruleVerdict, schemasOf, schemaVerdict } from "../support/schemas-of.js";

const [schema, rules] = [schemaVerdict(RequiredRulesSchema), ruleVerdict(RequiredRulesSchema)];
const request = {
  text: "ab",
  data: "AA==",
  flag: true,
  number: 1,
  long: "1",
  state: "OPEN",
  list: [""],
  map: { "": "" },
  nullable: "",
};

describe("a required field without presence", () => {
  test("may have any other value than zero, as in protovalidate", () => {
    expect([schema(request), rules(request)]).toEqual([true, true]);
  });

  test.each<[string, JsonValue]>([
    ["text", ""],
    ["data", ""],
    ["flag", false],
    ["number", 0],
    ["long", "0"],
    ["state", "STATE_UNSPECIFIED"],
    ["list", []],
    ["map", {}],
  ])("must not be zero in a request: %s", (field, zero) => {
    const changed = { ...request, [field]: zero };
    expect([schema(changed), rules(changed)]).toEqual([false, false]);
  });

  test("may be zero in a response", () => {
    const { properties } = schemasOf(RequiredRulesSchema, "response")["RequiredRules"] ?? {};
    expect([properties?.["flag"], properties?.["list"]]).toEqual([
      { type: "boolean" },
      { type: "array", items: { type: "string" } },
    ]);
  });
});
