import { InvalidArgumentError } from "commander";
import { describe, expect, test } from "vitest";
import { count, seconds, uuid } from "../../src/command-line/arguments.js";

describe("a command line argument", () => {
  test("is converted to its type", () => {
    expect(uuid("7D0F3F5E-6F0C-4D6B-9A53-0C2B6A0F1E1A")).toBe("7d0f3f5e-6f0c-4d6b-9a53-0c2b6a0f1e1a");
    expect([seconds("1"), seconds("999999999"), count("3")]).toEqual([1, 999_999_999, 3]);
  });

  test.each<[string, () => unknown, string]>([
    ["UUID", () => uuid("42"), "It must be a UUID."],
    ["number of seconds", () => seconds("0"), "It must be a whole number of seconds from 1 to 999999999."],
    ["number", () => count("0"), "It must be a whole number from 1 to 999999999."],
    ["small number", () => count("1000000000"), "It must be a whole number from 1 to 999999999."],
    ["whole number", () => count("1.5"), "It must be a whole number from 1 to 999999999."],
  ])("is rejected with the valid values if it is not a %s", (_, read, says) => {
    expect(read).toThrow(new InvalidArgumentError(says));
  });
});
