import { type DescField, getOption } from "@bufbuild/protobuf";
import { field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { describe, expect, test } from "vitest";
import { FieldBehavior, field_behavior as fieldBehavior } from "../../src/gen/google/api/field_behavior_pb.js";
import { type PublishedOperation, publishedOperations } from "./published-operations.js";
import { type Members, operations, resources } from "./specification.js";

/** The operations that section 1 of the specification calls previews. */
const PREVIEW = /^\w+ \/(admin\/configuration\/|eligibility-checks$|waitlist-entries$|siau-cases$)/;

test("the published operations are those of the specification", () => {
  expect(publishedOperations.map(({ name }) => name).toSorted()).toEqual(Object.keys(operations).toSorted());
});

test("every published operation is implemented", () => {
  const missing = publishedOperations.filter(({ isImplemented }) => !isImplemented);
  expect(missing.map(({ name }) => name)).toEqual([]);
});

for (const operation of publishedOperations) {
  describe(operation.name, () => {
    const specified = operations[operation.name];

    test("has the statuses of its row", () => {
      const { successStatus, errorStatuses } = operation.options;
      expect([successStatus, errorStatuses]).toEqual([specified?.success, specified?.errors]);
    });

    test("has the request body of the specification, with the same required members", () => {
      expect(membersOf(operation.bodyFields, isRequired)).toEqual(requirednessOf(specified?.body ?? {}));
    });

    test("answers with the resource of the specification", () => {
      expect(operation.response.message.name).toBe(specified?.response);
      const members = operation.response.message.fields.map(({ jsonName }) => jsonName);
      expect(members.toSorted()).toEqual(Object.keys(resources[`${specified?.response}`] ?? {}).toSorted());
    });

    test("is labelled as a preview exactly if the specification says so", () => {
      expect(operation.options.preview).toBe(PREVIEW.test(operation.name));
    });
  });
}

test("each operation requires one of the scopes, and operations on the same resource require the same one", () => {
  const scopes = publishedOperations.map(({ name, options }) => `${areaOf(name)} ${options.scope}`);
  expect([...new Set(scopes)].toSorted()).toEqual([
    "admin configuration:write",
    "appointments appointments:reschedule",
    "eligibility-checks eligibility:check",
    "patients patients:write",
    "siau-cases siau:write",
    "waitlist-entries waitlist:write",
  ]);
});

function areaOf(name: string): string {
  return `${name.split("/")[1]}`;
}

function membersOf(
  fields: PublishedOperation["bodyFields"],
  required: (field: DescField) => boolean,
): Record<string, boolean> {
  return Object.fromEntries(fields.map((field) => [field.jsonName, required(field)]));
}

/**
 * Whether a field is required. A required list has the REQUIRED field behavior, because an empty list has no presence.
 */
function isRequired(field: DescField): boolean {
  return getOption(field, fieldRules).required || getOption(field, fieldBehavior).includes(FieldBehavior.REQUIRED);
}

function requirednessOf(members: Members): Record<string, boolean> {
  return Object.fromEntries(Object.entries(members).map(([name, type]) => [name, !type.endsWith("?")]));
}
