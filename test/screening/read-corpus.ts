import { readFileSync } from "node:fs";

/**
 * The sentences of a file of test/screening/corpus, one a line, written as patients in Colombia write. `made-…` were in
 * view when the patterns were written; `held-out-…` were written before them and kept away from their making.
 */
export function readCorpus(name: string): string[] {
  return readFileSync(new URL(`corpus/${name}.txt`, import.meta.url), "utf8")
    .trim()
    .split("\n");
}
