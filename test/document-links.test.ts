import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const root = new URL("../", import.meta.url).pathname;
const folders = ["docs", "deploy", "bench", "examples", "packages", "proto", "test"];
const pages = [
  ...pagesIn(readdirSync(root)),
  ...folders.flatMap((folder) =>
    pagesIn(readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })).map((page) => join(folder, page)),
  ),
].filter((page) => !page.includes("node_modules"));

test.each(pages)("each relative link of %s leads to an existing file and heading", (page) => {
  expect(brokenLinks(page)).toEqual([]);
});

test("a link to a missing file or heading is found", () => {
  const text =
    "[a](missing.md) [b](../README.md#no-such-heading) [c](#neither) [d](errors.md) [e](https://example.org/x.md)";
  expect(brokenLinks("docs/reference/example.md", text)).toEqual([
    "missing.md",
    "../README.md#no-such-heading",
    "#neither",
  ]);
});

function pagesIn(files: readonly string[]): string[] {
  return files.filter((file) => file.endsWith(".md"));
}

function brokenLinks(page: string, text = readFileSync(join(root, page), "utf8")): string[] {
  const prose = text.replaceAll(/^```.*?^```/gms, "").replaceAll(/`[^`]*`/g, "");
  return Array.from(prose.matchAll(/\]\(([^)\s]+)\)/g), ([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => !leadsSomewhere(page, text, target));
}

function leadsSomewhere(page: string, text: string, target: string): boolean {
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? undefined : join(root, dirname(page), path);
  if (file !== undefined && !existsSync(file)) return false;
  if (anchor === undefined) return true;
  return anchorsOf(file === undefined ? text : readFileSync(file, "utf8")).includes(anchor);
}

/** Returns the anchors that GitHub derives from headings. */
function anchorsOf(text: string): string[] {
  return Array.from(text.matchAll(/^#+ (.*)$/gm), ([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
}
