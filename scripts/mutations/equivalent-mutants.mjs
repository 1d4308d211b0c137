import { readFileSync } from "node:fs";

const LIST = new URL("equivalent-mutants.json", import.meta.url);

/**
 * Returns the mutants that are not in equivalent-mutants.json. A listed mutant changes nothing that a caller, the
 * database or an operator can observe. An entry is `{ file, code, mutated, reason }`: the line without and with the
 * change. Throws if an entry matches no mutant, because its line has changed.
 */
export function withoutEquivalents(mutants, files) {
  const entries = JSON.parse(readFileSync(LIST, "utf8")).filter(({ file }) => files.has(file));
  const stale = entries.filter((entry) => !mutants.some((mutant) => isSame(mutant, entry)));
  if (stale.length > 0) {
    throw new Error(`equivalent-mutants.json: no mutant is ${stale.map(({ mutated }) => mutated).join(" or ")}`);
  }
  return mutants.filter((mutant) => !entries.some((entry) => isSame(mutant, entry)));
}

/** Returns the lines that a mutant changes, before and after, with single spaces. */
export function linesOf({ source, start, end, text }) {
  const from = source.lastIndexOf("\n", start - 1) + 1;
  const next = source.indexOf("\n", end);
  const to = next === -1 ? source.length : next;
  const tidy = (lines) => lines.replaceAll(/\s+/g, " ").trim();
  return {
    code: tidy(source.slice(from, to)),
    mutated: tidy(source.slice(from, start) + text + source.slice(end, to)),
  };
}

function isSame(mutant, { file, code, mutated }) {
  if (mutant.file !== file) return false;
  const lines = linesOf(mutant);
  return lines.code === code && lines.mutated === mutated;
}
