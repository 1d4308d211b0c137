import type { DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { ruleVerdict, schemasOf, schemaVerdict } from "./schemas-of.js";

/** The schema of a field's rules, and values that test it. */
interface Row {
  readonly schema: JsonObject;
  readonly accepted?: readonly JsonValue[];
  readonly rejected?: readonly JsonValue[];
  /** Values that the rules reject but the schema accepts. */
  readonly unseen?: readonly JsonValue[];
}

/** Tests the rules of each field of a message, with one row for each field by its JSON name. */
export function describeRules(name: string, message: DescMessage, rows: Readonly<Record<string, Row>>): void {
  describe(name, () => {
    const { properties } = schemasOf(message)[message.name] ?? { properties: {} };
    const [schema, rules] = [schemaVerdict(message), ruleVerdict(message)];

    test("the table has a row for each field", () => {
      expect(Object.keys(rows)).toEqual(message.fields.map(({ jsonName }) => jsonName));
    });

    test.each(Object.entries(rows))("%s", (field, { schema: expected, accepted = [], rejected = [], unseen = [] }) => {
      expect(properties[field]).toEqual(expected);
      const verdicts = (values: readonly JsonValue[]) =>
        values.map((value) => [value, schema({ [field]: value }), rules({ [field]: value })]);
      expect(verdicts(accepted)).toEqual(accepted.map((value) => [value, true, true]));
      expect(verdicts(rejected)).toEqual(rejected.map((value) => [value, false, false]));
      expect(verdicts(unseen)).toEqual(unseen.map((value) => [value, true, false]));
    });
  });
}
