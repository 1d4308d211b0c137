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

test("every part that can be asked for by its name is a program, and the README tells of it", () => {
  const [, list = ""] = /^const PARTS = \[(.*?)\];/ms.exec(readFileSync(`${root}/bench/run.mjs`, "utf8")) ?? [];
  const parts = Array.from(list.matchAll(/"([^"]+)"/g), ([, name = ""]) => name);
  expect(parts.length).toBeGreaterThan(1);
  expect(parts.filter((name) => !benches.includes(`${name}.mjs`))).toEqual([]);
  const readme = readFileSync(`${root}/bench/README.md`, "utf8");
  expect(parts.filter((name) => !new RegExp(`\\b${name}\\b`).test(readme))).toEqual([]);
});
