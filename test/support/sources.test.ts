import { expect, test } from "vitest";
import { importsOf } from "./sources.js";

test("importsOf finds every form of import", () => {
  const text = `import a, { b } from "./a.js";
import type { C } from "../c.js";
import {
  d,
  type E,
} from "node:fs";
import "./side-effect.js";
export { f } from "../g/f.js";
const from = "./text.js";
const h = await import("./h.js");
type I = typeof import("../i.js");`;
  const found = ["rest/a.ts", "c.ts", "node:fs", "rest/side-effect.ts", "g/f.ts", "rest/h.ts", "i.ts"];
  expect(importsOf({ "rest/any.ts": text }, "rest/any.ts")).toEqual(found);
});
