import { randomInt, randomUUID } from "node:crypto";
import { ScalarType } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { shareTestService, type TestService } from "../support/service.js";
import { prepare, prepareUnused } from "./operations.js";
import { implementedOperations, type PublishedOperation } from "./published-operations.js";
import { sendRest, summaryOf } from "./send.js";

/**
 * The most code points of a text, and its rules. A paragraph may have several lines. A trimmed text must not start or
 * end with a space.
 */
interface Limit {
  readonly most: number;
  readonly isParagraph?: boolean;
  readonly canBeEmpty?: boolean;
  readonly isTrimmed?: boolean;
}

const NAME: Limit = { most: 200 };

/** Limits by the name of the member. If operations have different limits, the name of the operation precedes it. */
const limits: Readonly<Record<string, Limit>> = {
  code: { most: 64, isTrimmed: true },
  name: NAME,
  fullName: NAME,
  taxId: { most: 32 },
  externalReference: { most: 128 },
  "CreateCase.description": { most: 4000, isParagraph: true },
  "UpdateConsultationType.description": { most: 4000, isParagraph: true, canBeEmpty: true },
};

/** Members whose limits are tested with their operations. */
const ELSEWHERE = new Set(["documentType", "documentNumber", "phone", "email", "optionToken"]);

/** A letter outside the Basic Multilingual Plane: one code point, two UTF-16 units. */
const LETTER = "𠮷";

let service: TestService;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

for (const operation of implementedOperations) {
  for (const { name, limit } of textsOf(operation)) {
    describe(`${name} of ${operation.name}`, () => {
      const answerTo = async (value: string, preparedBy: typeof prepare = prepare) => {
        const draft = await preparedBy(operation, service);
        return summaryOf(await sendRest(service, operation, { ...draft, body: { ...draft.body, [name]: value } }));
      };
      const refusalOf = (value: string) => answerTo(value, prepareUnused);
      const success = String(operation.options.successStatus);

      test(`has at most ${limit.most} characters`, async () => {
        const longest = LETTER.repeat(limit.most - 1);
        const marker = String.fromCodePoint(randomInt(0x4e00, 0x9fa0));
        expect(await answerTo(longest + marker)).toBe(success);
        expect(await refusalOf(LETTER.repeat(limit.most + 1))).toBe(`422 ${name} TOO_LONG`);
      });

      test(limit.canBeEmpty === true ? "can be empty" : "must not be empty", async () => {
        if (limit.canBeEmpty === true) expect(await answerTo("")).toBe(success);
        else expect(await refusalOf("")).toBe(`422 ${name} TOO_SHORT`);
      });

      test("must not be blank or contain control characters", async () => {
        for (const value of [
          "   ",
          "\u00a0\u2003",
          ...UNSEEN,
          "a\u0007b",
          "a\u0085b",
          ...(limit.isParagraph ? [] : ["a\nb", "a\tb"]),
        ]) {
          const item = `422 ${name} INVALID_FORMAT`;
          expect([value, await refusalOf(value)]).toEqual([value, expect.stringMatching(new RegExp(`^${item}`))]);
        }
        if (limit.isParagraph) expect(await answerTo("una línea\ny\totra")).toBe(success);
      });

      if (limit.isTrimmed) {
        test("must not start or end with a space, but may contain spaces", async () => {
          const unique = `a ${randomUUID()} b`;
          expect(await answerTo(unique)).toBe(success);
          expect(await refusalOf(` ${unique}`)).toBe(`422 ${name} INVALID_FORMAT`);
          expect(await refusalOf(`${unique}\u00a0`)).toBe(`422 ${name} INVALID_FORMAT`);
        });
      }
    });
  }
}

test("every text of an operation has a limit", () => {
  const unlimited = implementedOperations.flatMap((operation) =>
    operation.bodyFields.filter(isPlainText).flatMap(({ jsonName }) => {
      const isKnown = ELSEWHERE.has(jsonName) || limitOf(operation, jsonName) !== undefined;
      return isKnown || FORMED.test(jsonName) ? [] : [`${operation.name} ${jsonName}`];
    }),
  );
  expect(unlimited).toEqual([]);
});

/** Texts of combining marks and fillers that show nothing by themselves. */
const UNSEEN = ["\u0301", " \u0301\u200d\ufe0f ", "\u2800", "\u3164"];

/** Ids, dates and times of day, which their format limits. */
const FORMED = /Id$|Date$|^date|^valid|AtLocal$/;

function textsOf(operation: PublishedOperation): { readonly name: string; readonly limit: Limit }[] {
  return operation.bodyFields.flatMap(({ jsonName }) => {
    const limit = limitOf(operation, jsonName);
    return limit === undefined ? [] : [{ name: jsonName, limit }];
  });
}

function limitOf({ method }: PublishedOperation, name: string): Limit | undefined {
  return limits[`${method.name}.${name}`] ?? limits[name];
}

function isPlainText({ fieldKind, scalar }: PublishedOperation["bodyFields"][number]): boolean {
  return fieldKind === "scalar" && scalar === ScalarType.STRING;
}
