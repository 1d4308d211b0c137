import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { type ErrorCode, errorTable, type FieldErrorCode } from "../../src/errors.js";
import { fieldCodes } from "../../src/problems/field-codes.js";
import { codesOf } from "../../src/problems/operation-codes.js";
import { problemCodes } from "../../src/problems/problem-codes.js";
import { servedServices } from "../../src/services/services.js";
import { readSources } from "../support/sources.js";
import { errorsPage } from "./errors-page.js";

const methods = servedServices.flatMap(({ service }) => service.methods);
const codes = Object.keys(fieldCodes) as FieldErrorCode[];
const entries = Object.entries({ ...problemCodes, ...fieldCodes });
const sources = {
  ...readSources(fileURLToPath(new URL("../../src", import.meta.url))),
  ...readSources(fileURLToPath(new URL("../../packages/connect-rest/src", import.meta.url))),
};

describe("the catalogue of errors", () => {
  test.each(entries)("explains %s: meaning, cause and remedy, in sentences", (_, entry) => {
    for (const text of [entry.meaning, entry.cause, entry.remedy]) expect(text).toMatch(/^[A-Za-z].*\.$/);
  });

  test("names existing operations that have the status", () => {
    const stated = codes.flatMap((code) =>
      Object.entries(fieldCodes[code].answeredBy ?? {}).flatMap(([problem, names]) =>
        names.map((name) => ({ name, problem: problem as ErrorCode, code })),
      ),
    );
    const wrong = stated.filter(({ name, problem, code }) => {
      const method = methods.find((each) => each.name === name);
      return method === undefined || !codesOf(method)[problem]?.includes(code);
    });
    expect(wrong).toEqual([]);
  });

  test("has no unused code", () => {
    const texts = Object.entries(sources).filter(([path]) => !/^(gen|problems)\//.test(path));
    const thrown = (path: string, code: string) => (path === "errors.ts" ? `code: "${code}"` : `"${code}"`);
    const unused = codes.filter((code) => !texts.some(([path, text]) => text.includes(thrown(path, code))));
    expect(unused).toEqual([]);
  });

  test("has every code that follows from the proto of an operation", () => {
    const method = methods.find(({ name }) => name === "UpdatePatient");
    expect(method && codesOf(method)).toEqual({
      INVALID_REQUEST: expect.arrayContaining(["REQUIRED", "INVALID_UUID"]),
      CONCURRENT_MODIFICATION: [
        "STALE_VERSION",
        "IDEMPOTENCY_KEY_REUSED",
        "IDEMPOTENCY_IN_PROGRESS",
        "RESULT_ERASED",
        "TENANT_SUSPENDED",
      ],
      VALIDATION_FAILED: expect.arrayContaining(["UNKNOWN_FIELD", "INVALID_EMAIL", "TOO_LONG", "OUT_OF_RANGE"]),
      SERVICE_UNAVAILABLE: ["BUSY", "TIMEOUT"],
    });
  });

  test("has operations for each code", () => {
    const answered = new Set(methods.flatMap((method) => Object.values(codesOf(method)).flat()));
    expect(codes.filter((code) => !answered.has(code))).toEqual([]);
    expect(Object.keys(errorTable)).toEqual(Object.keys(problemCodes));
  });
});

test("docs/reference/errors.md has the text of the catalogue", async () => {
  await expect(errorsPage()).toMatchFileSnapshot("../../docs/reference/errors.md");
});
