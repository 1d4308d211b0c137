import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const benches = readdirSync(`${root}/bench`).filter((name) => name.endsWith(".mjs"));

test("what is measured is imported from files that are there", () => {
  const imports = benches.flatMap((name) =>
    Array.from(
      readFileSync(`${root}/bench/${name}`, "utf8").matchAll(/"\.\.\/dist\/([^"]+)\.js"/g),
      ([, path = ""]) => path,
    ),
  );
  expect(imports).not.toEqual([]);
  expect(imports.filter((path) => !existsSync(`${root}/src/${path}.ts`))).toEqual([]);
});
