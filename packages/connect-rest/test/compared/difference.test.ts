import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const folder = new URL(".", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, folder), "utf8");

/** The files with the cases of each subject. The first sentence of a file names its subject. */
const dataFiles = [
  "bodies.ts",
  "clients.ts",
  "parameters.ts",
  "protojson/writing.ts",
  "protojson/numbers.ts",
  "protojson/values.ts",
  "protojson/well-known.ts",
  "responses.ts",
  "routing.ts",
  "templates.ts",
  "update-masks.ts",
];

test("each difference has a row in docs/compared.md and a case, and no row is without them", () => {
  const declared = [...read("difference.ts").matchAll(/^ {2}\| "([a-z0-9-]+)"/gm)].map(([, id]) => id);
  const rows = [...read("../../docs/compared.md").matchAll(/^\| `([a-z0-9-]+)` \|/gm)].map(([, id]) => id);
  const cases = dataFiles.map(read).join("\n");
  expect(rows).toEqual(declared);
  expect(declared.filter((id) => !cases.includes(`"${id}"`))).toEqual([]);
});
