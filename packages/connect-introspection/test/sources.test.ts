import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const folder = new URL("../src/", import.meta.url);
const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));

test("the sources import nothing but each other and the peers: no module of Node.js", () => {
  const imported = files.flatMap((path) =>
    Array.from(readFileSync(new URL(path, folder), "utf8").matchAll(/\bfrom "([^"]+)"/g), ([, name = ""]) => name),
  );
  expect(imported.length).toBeGreaterThan(files.length);
  const others = imported.filter((name) => !/^(\.{1,2}\/|@bufbuild\/protobuf(\/|$)|@connectrpc\/connect$)/.test(name));
  expect(others).toEqual([]);
});
