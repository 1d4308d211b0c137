import { validate, version } from "uuid";
import { describe, expect, test } from "vitest";
import { createUuid7Source, isLowerCaseUuid, isUuid, newId, timeOfUuid7, writeLowerCaseUuid } from "../src/uuid.js";

describe("a UUID", () => {
  test.each([
    ["of version 4", "7d0f3f5e-6f0c-4d6b-9a53-0c2b6a0f1e11"],
    ["of version 7", "019a8f3e-5b1c-7c3d-8e4f-0123456789ab"],
    ["of no version and variant that the RFC knows", "11111111-2222-3333-4444-555555555555"],
    ["of zeros", "00000000-0000-0000-0000-000000000000"],
  ])("is valid %s, in upper or lower case", (_name, text) => {
    expect([isUuid(text), isLowerCaseUuid(text), isUuid(text.toUpperCase())]).toEqual([true, true, true]);
    const bytes = Buffer.alloc(17);
    expect(writeLowerCaseUuid(bytes, text, 1)).toBe(true);
    expect(bytes.toString("hex")).toBe(`00${text.replaceAll("-", "")}`);
  });

  test("is in lower case only if all its letters are", () => {
    const text = "7D0F3F5E-6f0c-4d6b-9a53-0c2b6a0f1e11";
    expect([isLowerCaseUuid(text), writeLowerCaseUuid(Buffer.alloc(16), text, 0)]).toEqual([false, false]);
  });

  test.each([
    ["without hyphens", "7d0f3f5e6f0c4d6b9a530c2b6a0f1e11"],
    ["with another sign in place of a hyphen", "7d0f3f5e-6f0c-4d6b-9a53+0c2b6a0f1e11"],
    ["with a letter whose code ends like that of a digit", "7d0f3f5e-6f0c-4d6b-9a53-0c2b6a0f1e1\u0131"],
    ["in braces", "{7d0f3f5e-6f0c-4d6b-9a53-0c2b6a0f1e11}"],
    ["as a URN", "urn:uuid:7d0f3f5e-6f0c-4d6b-9a53-0c2b6a0f1e11"],
    ["followed by a line break", "7d0f3f5e-6f0c-4d6b-9a53-0c2b6a0f1e11\n"],
    ["with a letter that is not hexadecimal", "7d0f3f5e-6f0c-4d6b-9a53-0c2b6a0f1e1g"],
    ["if it is empty", ""],
  ])("is invalid %s", (_name, text) => {
    const isWritten = writeLowerCaseUuid(Buffer.alloc(16), text, 0);
    expect([isUuid(text), isLowerCaseUuid(text), isWritten]).toEqual([false, false, false]);
  });
});

describe("a new id", () => {
  test("is a version 7 UUID that contains the time", () => {
    const ms = Date.parse("2028-02-29T23:59:59.999Z");
    const id = createUuid7Source(() => ms)();
    expect([validate(id), version(id), timeOfUuid7(id)]).toEqual([true, 7, ms]);
  });

  test("is greater than all previous ones, within a millisecond and if the clock is set back", () => {
    let ms = Date.parse("2028-02-29T23:59:59.999Z");
    const next = createUuid7Source(() => ms);
    const ids = Array.from({ length: 1_000 }, next);
    ms -= 60_000;
    ids.push(...Array.from({ length: 1_000 }, next));
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("has its own random bits", () => {
    const tails = Array.from({ length: 1_000 }, () => newId().slice(24));
    expect(new Set(tails).size).toBe(tails.length);
  });
});
