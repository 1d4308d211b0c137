import { describe, expect, test } from "vitest";
import { isLowerCaseUuid, isUuid } from "../src/uuid.js";

describe("a UUID", () => {
  test.each([
    ["of version 4", "7d0f3f5e-6f0c-4d6b-9a53-0c2b6a0f1e11"],
    ["of version 7", "019a8f3e-5b1c-7c3d-8e4f-0123456789ab"],
    ["of no version and variant that the RFC knows", "11111111-2222-3333-4444-555555555555"],
    ["of zeros", "00000000-0000-0000-0000-000000000000"],
  ])("may be one %s, in any case", (_name, text) => {
    expect([isUuid(text), isLowerCaseUuid(text), isUuid(text.toUpperCase())]).toEqual([true, true, true]);
  });

  test("is kept in lower case", () => {
    expect(isLowerCaseUuid("7D0F3F5E-6f0c-4d6b-9a53-0c2b6a0f1e11")).toBe(false);
  });

  test.each([
    ["without hyphens", "7d0f3f5e6f0c4d6b9a530c2b6a0f1e11"],
    ["in braces", "{7d0f3f5e-6f0c-4d6b-9a53-0c2b6a0f1e11}"],
    ["as a URN", "urn:uuid:7d0f3f5e-6f0c-4d6b-9a53-0c2b6a0f1e11"],
    ["with a line break behind it", "7d0f3f5e-6f0c-4d6b-9a53-0c2b6a0f1e11\n"],
    ["with a letter that is no digit", "7d0f3f5e-6f0c-4d6b-9a53-0c2b6a0f1e1g"],
    ["that is empty", ""],
  ])("is none %s", (_name, text) => {
    expect([isUuid(text), isLowerCaseUuid(text)]).toEqual([false, false]);
  });
});
