import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const { packages }: { packages: Record<string, { readonly integrity?: string; readonly link?: boolean }> } = JSON.parse(
  readFileSync(new URL("../package-lock.json", import.meta.url), "utf8"),
);

test("the lock file has the integrity of every package for all platforms, except workspaces", () => {
  const entries = Object.entries(packages).filter(([path, { link }]) => path.includes("node_modules/") && !link);
  expect(entries.length).toBeGreaterThan(300);
  expect(entries.filter(([, { integrity }]) => integrity === undefined).map(([path]) => path)).toEqual([]);
});
