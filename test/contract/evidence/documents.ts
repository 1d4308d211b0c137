import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { type DocumentedRow, readRows } from "./documented-rows.js";

/** The tests that prove a row of a document. */
export interface Evidence {
  /** Id of the row. */
  readonly id: string;
  /** Each is `file › title`: the path below test/, and the title as it stands in the source. */
  readonly tests: readonly string[];
}

/** A document whose rows are proven by tests. */
export interface ProvenDocument {
  /** Path from the root of the project. */
  readonly path: string;
  readonly rows: readonly DocumentedRow[];
  readonly evidence: readonly Evidence[];
}

/** Reads a document, and its evidence from the JSON file with the same name in this folder. */
export function readDocument(path: string): ProvenDocument {
  const page = readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
  const evidence = readFileSync(new URL(`${posix.basename(path, ".md")}.json`, import.meta.url), "utf8");
  return { path, rows: readRows(page), evidence: JSON.parse(evidence) as Evidence[] };
}
