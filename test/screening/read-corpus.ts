import { readFileSync } from "node:fs";

/**
 * Reads a file of test/screening/corpus, one sentence per line, written as patients in Colombia write.
 * - `made-…` were used to write the patterns.
 * - `held-out-…` were written before the patterns and not used for them.
 * - `later-held-out-…`, in Spanish and English, were written in three parts, each before its first test. At the first
 *   test 303 of 322 were rejected and 365 of 366 ordinary ones were accepted. Rules learned from the misses were added
 *   later.
 * - `third-held-out-…` were written in two parts, each before its first test: 177 of 198 were rejected and all ordinary
 *   ones were accepted. Rules learned from the misses were added later.
 * - `fourth-held-out-…` were written after those rules and before their first test: 72 of 74 were rejected and all
 *   ordinary ones were accepted. No rules were learned from them.
 */
export function readCorpus(name: string): string[] {
  return readFileSync(new URL(`corpus/${name}.txt`, import.meta.url), "utf8")
    .trim()
    .split("\n");
}
