import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test, vi } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
/**
 * Files that may read the machine's clock because they start processes. Files that set vitest's fake clock may read it
 * too.
 */
const OF_PROCESSES = [
  "deploy/compose.test.ts",
  "examples/documented-receivers.test.ts",
  "examples/examples.test.ts",
  "faults/processes.test.ts",
  "faults/webhook-kill-storm.test.ts",
  "main.test.ts",
  "schedule/storm-fixture.ts",
  "support/process-fixture.ts",
];

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

describe("the tests' clock", () => {
  test.each(["2028-02-29T23:59:00-05:00", "2027-01-01T05:00:00Z"])(
    "starts at %s if TEST_CLOCK names it",
    async (moment) => {
      const { testNow } = await clockAt(moment);
      const first = testNow();
      expect(new Date(Date.parse(moment)).toISOString().slice(0, 16)).toBe(new Date(first).toISOString().slice(0, 16));
      await vi.waitUntil(() => testNow() > first);
    },
  );

  test.each(["tomorrow", "2028-02-29", "2028-02-29T10:00:00"])(
    "rejects %s: not an instant with an offset",
    async (moment) => {
      await expect(clockAt(moment)).rejects.toThrow(`TEST_CLOCK is ${moment}; it must be an instant such as`);
    },
  );

  test("is the only clock that tests read, except in files that start processes", () => {
    const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => /\.m?ts$/.test(name));
    const asking = files.filter((name) => {
      const text = readFileSync(join(root, name), "utf8");
      return /\bDate\.now\b(?!=)|new Date\(\)/.test(text) && !text.includes("vi.setSystemTime(");
    });
    expect(asking.filter((name) => name !== "support/clock.test.ts").toSorted()).toEqual(OF_PROCESSES);
  });
});

async function clockAt(moment: string) {
  vi.stubEnv("TEST_CLOCK", moment);
  vi.resetModules();
  return import("./clock.js");
}
