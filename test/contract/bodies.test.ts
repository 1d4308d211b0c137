import { type DescField, ScalarType } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectProblem } from "../support/problem.js";
import { shareTestService, type TestService } from "../support/service.js";
import { type Draft, prepare } from "./operations.js";
import { implementedOperations, type PublishedOperation } from "./published-operations.js";
import { sendRest, summaryOf } from "./send.js";
import { itemType } from "./shape.js";
import { type MemberType, operations, resources } from "./specification.js";

/** A value that a member must not have, and the code of its field error. */
type Bad = readonly [value: unknown, code: string];

/** Values with the right JSON type that violate the specification's format of the type. */
const badlyFormed: Readonly<Record<string, readonly Bad[]>> = {
  uuid: ["42", "", "00000000-0000-0000-0000-00000000000g", "{0b9e6c1a-3f0e-4b57-9a55-0d2b7f6f3c11}"].map((value) => [
    value,
    "INVALID_UUID",
  ]),
  email: ["ana", "ana@", "@example.com"].map((value) => [value, "INVALID_EMAIL"]),
  date: ["2026-02-30", "2027-02-29", "2026-1-1", "2026-01-01T00:00:00Z", "today", "infinity", "0000-01-01"].map(
    (value) => [value, "INVALID_DATE"],
  ),
  "date-time": ["2026-02-30T10:00:00Z", "2026-01-15T24:00:00Z", "2026-01-15T10:00:00", "2026-01-15"].map((value) => [
    value,
    "INVALID_DATE_TIME",
  ]),
  time: ["24:00", "8:00", "08:60", "08:00:60", "noon", "08:00Z"].map((value) => [value, "INVALID_TIME"]),
  integer: [
    [1.5, "INVALID_TYPE"],
    [2_147_483_648, "OUT_OF_RANGE"],
    [-2_147_483_649, "OUT_OF_RANGE"],
  ],
};

const jsonTypes: Readonly<Partial<Record<ScalarType, "string" | "boolean">>> = {
  [ScalarType.STRING]: "string",
  [ScalarType.BOOL]: "boolean",
};

const texts: readonly unknown[] = ["x", ""];
const numbers: readonly unknown[] = [1, 0];
const flags: readonly unknown[] = [true, false];
const composites: readonly unknown[] = [[], {}, ["x"], { x: 1 }];

let service: TestService;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

for (const operation of implementedOperations) {
  const { bodyFields } = operation;
  const members = operations[operation.name]?.body ?? {};
  const required = bodyFields.filter(({ jsonName }) => !members[jsonName]?.endsWith("?"));
  const optional = bodyFields.filter((field) => !required.includes(field));
  let draft: Draft;

  describe(operation.name, () => {
    beforeAll(async () => {
      draft = await prepare(operation, service);
    });

    test("names every required member of an empty body", async () => {
      const items = required.map(({ jsonName }) => `${jsonName} REQUIRED`);
      expectProblem(await sendRest(service, operation, draft, { body: {} }), 422, items);
    });

    test.each(required.map(({ jsonName }) => jsonName))("requires %s", async (name) => {
      const { [name]: _, ...body } = draft.body;
      expectProblem(await sendRest(service, operation, draft, { body }), 422, [`${name} REQUIRED`]);
    });

    test("accepts a body without any one of its optional members", async () => {
      expect(bodyFields).toHaveLength(required.length + optional.length);
      for (const { jsonName } of optional) {
        const { path, body } = await prepare(operation, service);
        const { [jsonName]: _, ...rest } = body;
        const answer = await sendRest(service, operation, { path, body: rest });
        expect([jsonName, answer.status]).toEqual([jsonName, operation.options.successStatus]);
      }
    });

    test("rejects null and every other JSON type for each member and for each list item", async () => {
      await expectRefusals(operation, draft, (field) =>
        [null, ...wrongTypes(field)].map((value) => [value, `${field.jsonName} INVALID_TYPE`]),
      );
      await expectRefusals(operation, draft, (field) => {
        const items = field.fieldKind === "list" ? [null, ...wrongItems(field)] : [];
        return items.map((item) => [[item], `${field.jsonName}[0] INVALID_TYPE`]);
      });
    });

    test("rejects values with the right JSON type and a wrong format, for each member", async () => {
      await expectRefusals(operation, draft, ({ jsonName: name }) => {
        const type = formOf(operation, name);
        const item = itemType(type);
        const bad = badValues(item ?? type.replace("?", ""));
        return bad.map(([value, code]) =>
          item === undefined ? [value, `${name} ${code}`] : [[value], `${name}[0] ${code}`],
        );
      });
    });

    test("rejects unknown members: fields of the path, update masks, metadata and snake_case names", async () => {
      const snakeCase = bodyFields.map(({ name }) => name).filter((name) => name.includes("_"));
      const others = ["metadata", "id", "version", "status", "createdAt", "updateMask", "update_mask", "tenantId"];
      const known = new Set(bodyFields.map(({ jsonName }) => jsonName));
      const names = [...new Set([...snakeCase, ...others, ...Object.keys(draft.path)])].filter(
        (name) => !known.has(name),
      );
      const unknown = Object.fromEntries(names.map((name) => [name, "x"]));
      const answer = await sendRest(service, operation, draft, { body: { ...draft.body, ...unknown } });
      expectProblem(
        answer,
        422,
        names.map((name) => `${name} UNKNOWN_FIELD`),
      );
    });

    test("lists every wrong member at once, in the order of the contract, with unknown members last", async () => {
      const wrong = bodyFields.map(({ jsonName }) => [jsonName, { x: 1 }]);
      const body = { zip: 1, ...Object.fromEntries(wrong.toReversed()) };
      const items = bodyFields.map(({ jsonName }) => `${jsonName} INVALID_TYPE`);
      expectProblem(await sendRest(service, operation, draft, { body }), 422, [...items, "zip UNKNOWN_FIELD"]);
    });

    test("has no effect in any of these cases", async () => {
      expect((await sendRest(service, operation, draft)).status).toBe(operation.options.successStatus);
    });
  });
}

/** A value and its expected field error, as `field CODE`. */
type Refusal = readonly [value: unknown, item: string];

/**
 * Sends one request with the first bad value of every member, then one with the second bad values, and so on. Each bad
 * value must have its own field error.
 */
async function expectRefusals(
  operation: PublishedOperation,
  draft: Draft,
  refusalsOf: (field: DescField) => readonly Refusal[],
): Promise<void> {
  const members = operation.bodyFields.map((field) => ({ name: field.jsonName, refusals: refusalsOf(field) }));
  const rounds = Math.max(...members.map(({ refusals }) => refusals.length));
  for (let round = 0; round < rounds; round++) {
    const bad = members.flatMap(({ name, refusals }) =>
      refusals.slice(round, round + 1).map(([value, item]) => ({ name, value, item })),
    );
    const values = Object.fromEntries(bad.map(({ name, value }) => [name, value]));
    const answer = await sendRest(service, operation, draft, { body: { ...draft.body, ...values } });
    const summary = ["422", ...bad.map(({ item }) => item)].join(" ");
    expect({ values, answer: summaryOf(answer) }).toEqual({ values, answer: summary });
  }
}

/** Returns values of all JSON types that do not fit the field. */
function wrongTypes(field: DescField): readonly unknown[] {
  if (field.fieldKind === "list") return [...texts, ...numbers, ...flags, {}, { x: 1 }];
  return wrongItems(field);
}

function wrongItems(field: DescField): readonly unknown[] {
  if (field.scalar === undefined) return [...numbers, ...flags, ...composites];
  const json = jsonTypes[field.scalar] ?? "number";
  const wrong = { string: [...numbers, ...flags], boolean: [...texts, ...numbers], number: [...texts, ...flags] };
  return [...wrong[json], ...composites];
}

/**
 * Returns the format of a member. The specification calls the local times of a rule `string` in requests; their format
 * stands in the response.
 */
function formOf({ name, response }: PublishedOperation, member: string): MemberType {
  const shown = resources[response.message.name]?.[member] ?? "";
  return shown.startsWith("time") ? shown : (operations[name]?.body[member] ?? "");
}

function badValues(type: MemberType): readonly Bad[] {
  if (!/^[A-Z_]+(\||$)/.test(type)) return badlyFormed[type] ?? [];
  const [first = ""] = type.split("|");
  return [first.toLowerCase(), "UNSPECIFIED", "", "NONE", `${first} `].map((value) => [value, "INVALID_VALUE"]);
}
