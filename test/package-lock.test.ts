import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** What is looked at of an entry of the lock file. */
interface LockEntry {
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

const { packages }: { packages: Record<string, LockEntry> } = JSON.parse(
  readFileSync(new URL("../package-lock.json", import.meta.url), "utf8"),
);
const entries = Object.entries(packages).filter(([path]) => path !== "");

test("the lock file has the integrity of every package that the service runs on, for any platform", () => {
  const needed = entries.filter(([, { dev }]) => dev !== true);
  expect(needed.length).toBeGreaterThan(50);
  expect(withoutIntegrity(needed)).toEqual([]);
});

test("the lock file has the integrity of every package that it is built and tested with on Linux (x64, glibc)", () => {
  const needed = entries.filter(
    ([path, { os = ["linux"], cpu = ["x64"], libc = ["glibc"] }]) =>
      os.includes("linux") && cpu.includes("x64") && libc.includes("glibc") && !path.endsWith("-musl"),
  );
  expect(needed.length).toBeGreaterThan(200);
  expect(withoutIntegrity(needed)).toEqual([]);
});

function withoutIntegrity(some: typeof entries): string[] {
  return some.filter(([, { integrity }]) => integrity === undefined).map(([path]) => path);
}
