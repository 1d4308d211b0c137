import { existsSync, readFileSync } from "node:fs";
import type { Evidence } from "./documents.js";

const folder = new URL("../../", import.meta.url);

/** Returns the problems of the tests that evidence names, one per line. */
export function problemsOf({ id, tests }: Evidence): string[] {
  if (tests.length === 0) return [`${id}: no test is named`];
  return tests.map(problemOf).flatMap((problem) => (problem === undefined ? [] : [`${id}: ${problem}`]));
}

function problemOf(test: string): string | undefined {
  const [file = "", title = ""] = test.split(" › ");
  if (!existsSync(new URL(file, folder))) return `there is no file ${file}`;
  return hasTitle(readFileSync(new URL(file, folder), "utf8"), title) ? undefined : `${file} has no test "${title}"`;
}

/** Whether the source has a test or describe with this title. Placeholders in titles stay as written. */
function hasTitle(source: string, title: string): boolean {
  const literal = title.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&");
  return title !== "" && new RegExp(`[(?:\\n]\\s*(["\`])${literal}\\1\\s*[,:]`).test(source);
}
