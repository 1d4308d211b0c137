import { InvalidArgumentError } from "commander";
import { describe, expect, test } from "vitest";
import { count, seconds, uuid } from "../../src/command-line/arguments.js";

describe("an argument of the command line", () => {
  test("is taken as what it is", () => {
    expect(uuid("7D0F3F5E-6F0C-4D6B-9A53-0C2B6A0F1E1A")).toBe("7d0f3f5e-6f0c-4d6b-9a53-0c2b6a0f1e1a");
    expect([seconds("1"), seconds("999999999"), count("3")]).toEqual([1, 999_999_999, 3]);
  });

  test.each<[string, () => unknown, string]>([
    ["UUID", () => uuid("42"), "It takes a UUID."],
    ["number of seconds", () => seconds("0"), "It takes a whole number of seconds from 1."],
    ["number", () => count("0"), "It takes a whole number from 1."],
    ["small number", () => count("1000000000"), "It takes a whole number from 1."],
    ["whole number", () => count("1.5"), "It takes a whole number from 1."],
  ])("that is no %s is refused with what it takes", (_, read, says) => {
    expect(read).toThrow(new InvalidArgumentError(says));
  });
});
