import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { apiReport } from "./api-report.js";
import { compiledPackages, root, workspacePackages } from "./workspace-packages.js";

describe.each(workspacePackages)("the public interface of $name", (each) => {
  test("is the recorded one: `npm run docs:api` records a wanted change", async () => {
    const report = apiReport(join(await compiledPackages(), "packages", each.folder), each);
    await expect(report).toMatchFileSnapshot(join(root, "packages", each.folder, "api.md"));
  });
});

describe("a report", () => {
  test("has the declarations of each entry point, and those that they mention", () => {
    const declarations = {
      "index.d.ts": 'export { type Shape, draw as paint } from "./shape.js";\nexport type { Own } from "other";\n',
      "node.d.ts": 'import type { Shape } from "./shape.js";\nexport declare const last: Shape;\n',
      "shape.d.ts": [
        'import type { Colour } from "./colour.js";',
        "/** A shape. */",
        "export interface Shape {\n    /** Its colour. */\n    readonly colour: Colour;\n}",
        "/** Draws: { this }. */",
        "export declare function draw(shape: Shape): void;",
        'export declare function draw(shape: Shape, at: import("./place.js").Place): void;',
        "export interface Unused {\n}",
      ].join("\n"),
      "colour.d.ts":
        'interface Hue {\n    readonly degrees: number;\n}\nexport type Colour = Hue | "grey";\nexport {};\n',
      "place.d.ts": "export type Place = readonly [x: number, y: number];\n",
    };
    const report = reportOf(declarations, { ".": "index.d.ts", "./node": "node.d.ts" });
    expect(report).toBe(
      [
        "# Interface of shapes",
        "Written by `npm run docs:api`.",
        "## shapes\n",
        "```ts",
        "export interface Shape {\n    readonly colour: Colour;\n}\n",
        "export declare function draw(shape: Shape): void;",
        'export declare function draw(shape: Shape, at: import("./place.js").Place): void; // as paint',
        "```",
        "## shapes/node\n",
        "```ts",
        "export declare const last: Shape;",
        "```",
        "## Mentioned, but not exported\n",
        "```ts",
        'export type Colour = Hue | "grey";\n',
        "export type Place = readonly [x: number, y: number];\n",
        "interface Hue {\n    readonly degrees: number;\n}",
        "```",
        "",
      ]
        .join("\n")
        .replace(/^(# .*|Written.*|```)\n(?=[#W])/gm, "$1\n\n"),
    );
  });

  test.each(['export * from "./shape.js";', "export default function draw(): void;"])("refuses %s", (statement) => {
    expect(() => reportOf({ "index.d.ts": statement }, { ".": "index.d.ts" })).toThrow("is not supported");
  });
});

function reportOf(files: Readonly<Record<string, string>>, entries: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "api-report-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return apiReport(folder, {
    folder: "shapes",
    name: "shapes",
    peers: [],
    entries: Object.fromEntries(Object.entries(entries).map(([entry, types]) => [entry, { types, default: "" }])),
  });
}
