import { type DescField, getOption } from "@bufbuild/protobuf";
import { field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { describe, expect, test } from "vitest";
import { FieldBehavior, field_behavior as fieldBehavior } from "../../src/gen/google/api/field_behavior_pb.js";
import { type PublishedOperation, publishedOperations } from "./published-operations.js";
import { type Members, operations, resources } from "./specification.js";

/** Where a preview is published as one (specification section 1). */
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

    test("answers the statuses of its row", () => {
      const { successStatus, errorStatuses } = operation.options;
      expect([successStatus, errorStatuses]).toEqual([specified?.success, specified?.errors]);
    });

    test("takes the body of the specification, and requires the same members", () => {
      expect(membersOf(operation.bodyFields, isRequired)).toEqual(requirednessOf(specified?.body ?? {}));
    });

    test("answers with the resource of the specification", () => {
      expect(operation.response.message.name).toBe(specified?.response);
      const members = operation.response.message.fields.map(({ jsonName }) => jsonName);
      expect(members.toSorted()).toEqual(Object.keys(resources[`${specified?.response}`] ?? {}).toSorted());
    });

    test("is labelled a preview where the specification says so", () => {
      expect(operation.options.preview).toBe(PREVIEW.test(operation.name));
    });
  });
}

test("each operation needs one of the scopes, and all that are alike need the same one", () => {
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

/** A list is required by its behaviour, because an empty one has no presence in a message. */
function isRequired(field: DescField): boolean {
  return getOption(field, fieldRules).required || getOption(field, fieldBehavior).includes(FieldBehavior.REQUIRED);
}

function requirednessOf(members: Members): Record<string, boolean> {
  return Object.fromEntries(Object.entries(members).map(([name, type]) => [name, !type.endsWith("?")]));
}
