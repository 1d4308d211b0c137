import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test, vi } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
/** Who starts processes, which have the machine's clock; that of vitest is stopped by whoever sets it. */
const OF_PROCESSES = [
  "examples/examples.test.ts",
  "faults/processes.test.ts",
  "main.test.ts",
  "support/process-ground.ts",
];

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

describe("the tests' clock", () => {
  test.each(["2028-02-29T23:59:00-05:00", "2027-01-01T05:00:00Z"])(
    "begins at %s where it is told to",
    async (moment) => {
      const { testNow } = await clockAt(moment);
      const first = testNow();
      expect(new Date(Date.parse(moment)).toISOString().slice(0, 16)).toBe(new Date(first).toISOString().slice(0, 16));
      await vi.waitUntil(() => testNow() > first);
    },
  );

  test.each(["tomorrow", "2028-02-29", "2028-02-29T10:00:00"])("takes no %s, which is no instant", async (moment) => {
    await expect(clockAt(moment)).rejects.toThrow(`TEST_CLOCK is ${moment}, but takes an instant such as`);
  });

  test("is the only one that is asked, but for the machine's by those who start processes", () => {
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
