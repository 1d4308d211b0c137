import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { readSources } from "./support/sources.js";

/** The sections of docs/internals/lifecycle.md that follow a request through the code. */
const walks = Array.from(
  readFileSync(new URL("../docs/internals/lifecycle.md", import.meta.url), "utf8").matchAll(
    /^## (A walk: .*)\n([^]*?)(?=^## )/gm,
  ),
  ([, title = "", text = ""]) => ({ title, text }),
);

describe("docs/internals/lifecycle.md", () => {
  const folders = ["../src", "../packages/connect-rest/src"].map((path) => new URL(path, import.meta.url));
  const texts = folders.flatMap((folder) => Object.values(readSources(fileURLToPath(folder)))).join("\n");

  test("follows a creation and a reschedule", () => {
    expect(walks.map(({ title }) => title)).toEqual(["A walk: POST /patients", "A walk: a reschedule"]);
  });

  test.each(walks)("$title names existing files", ({ text }) => {
    const files = Array.from(text.matchAll(/`((?:packages\/[\w-]+\/)?src\/[\w/-]+\.ts)`/g), ([, file = ""]) => file);
    expect(files).not.toEqual([]);
    expect(files.filter((file) => !existsSync(new URL(`../${file}`, import.meta.url)))).toEqual([]);
  });

  test.each(walks)("$title names existing functions", ({ text }) => {
    const names = Array.from(text.matchAll(/`([a-z]\w+)`/g), ([, name = ""]) => name);
    expect(names).not.toEqual([]);
    const isDefined = (name: string) =>
      new RegExp(`\\b(function|const) ${name}\\b|^ +(readonly )?(async )?${name}[(:]`, "m").test(texts);
    expect(names.filter((name) => !isDefined(name))).toEqual([]);
  });
});
