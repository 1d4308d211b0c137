import {
  type ImportOutcome,
  ImportOutcome_State,
  type ImportReport,
} from "../../gen/cupo/clinic/v1/import_service_pb.js";
import { type ImportCalls, type ImportTarget, openImportCalls } from "./import-calls.js";
import { openProgress, type Progress, type ProgressOutput } from "./progress.js";
import { type Counted, emptyCount, isComplete, tableOfCounts } from "./reconciliation.js";
import { ahead, batchesOf } from "./row-batches.js";
import { SeenRows } from "./seen-rows.js";
import { fileNames, findSourceFiles, type SourceFile } from "./source-files.js";
import { type RowError, readRows, type SourceRow } from "./source-rows.js";

/** The outputs and the clock of an import. */
export interface ImportOutputs {
  /** Receives a line for each error of a rejected row, and the report. */
  readonly output: { write(text: string): unknown };
  readonly progress: ProgressOutput;
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * The exit codes of an import that read all its files. An import is complete if:
 * - no row was rejected
 * - for each file, the counts `server` and `kept` are equal (see {@link Counted}). A dry run does not compare them.
 */
export const importExitCodes = { complete: 0, incomplete: 2 } as const;

/**
 * Imports the files of a folder, or only checks them. Writes a line `file:line: field: message` for each error, and a
 * report at the end. Returns the exit code, see {@link importExitCodes}. Throws if the import cannot be finished. A
 * later call with the same arguments continues the import.
 */
export async function importFolder(
  folder: string,
  target: ImportTarget,
  { output, progress: progressOutput, now }: ImportOutputs,
): Promise<number> {
  const files = await findSourceFiles(folder);
  const calls = openImportCalls(target);
  const progress = openProgress(progressOutput, now);
  const seen = target.validateOnly ? new SeenRows(now) : undefined;
  const reject: Reject = (file, line, errors) => {
    progress.clear();
    for (const { field, message } of errors)
      output.write(`${file}:${line}: ${field === "" ? "row" : field}: ${message}\n`);
  };
  const counts: Counted[] = [];
  for (const file of files) counts.push(await importFile(file, { calls, progress, seen, reject }));
  const report = target.validateOnly ? undefined : await calls.report();
  for (const count of counts) count.server = serverCount(report, count);
  output.write(tableOfCounts(counts));
  return counts.every(isComplete) ? importExitCodes.complete : importExitCodes.incomplete;
}

type Reject = (file: string, line: number, errors: readonly RowError[]) => void;

interface ImportWork {
  readonly calls: ImportCalls;
  readonly progress: Progress;
  /** The rows before the current row; undefined if this is not a dry run. */
  readonly seen: SeenRows | undefined;
  readonly reject: Reject;
}

async function importFile(file: SourceFile, { calls, progress, seen, reject }: ImportWork): Promise<Counted> {
  const count = emptyCount(file.name);
  const kept = new Set<string>();
  for await (const batch of ahead(batchesOf(readRows(file)))) {
    const sent = batch.filter(({ errors }) => errors.length === 0);
    const outcomes = sent.length === 0 ? [] : await calls.send(sent.map(({ row }) => row));
    const outcomeOf = new Map(sent.map((row, index) => [row, outcomes[index]]));
    for (const row of batch) {
      const outcome = outcomeOf.get(row);
      const errors = errorsOf(row, outcome, seen);
      count.rows += 1;
      if (errors.length > 0) {
        count.rejected += 1;
        reject(file.shownName, row.line, errors);
      } else if (outcome?.state === ImportOutcome_State.UNCHANGED) count.unchanged += 1;
      else count.created += 1;
      if (outcome?.resourceId !== undefined) kept.add(row.row.sourceId ?? "");
      if (errors.length === 0) seen?.add(row, outcome?.resourceId);
    }
    const last = batch.at(-1);
    if (last !== undefined) progress.show(file.shownName, Math.min(last.bytesRead / file.bytes, 0.99), count.rows);
  }
  progress.show(file.shownName, 1, count.rows);
  return { ...count, kept: kept.size };
}

function errorsOf(row: SourceRow, outcome: ImportOutcome | undefined, seen: SeenRows | undefined): readonly RowError[] {
  if (outcome === undefined) return row.errors;
  const errors = outcome.errors.map(({ code, field, message }) => ({ code, field, message }));
  return seen === undefined ? errors : seen.judge(row, errors, outcome.resourceId);
}

function serverCount(report: ImportReport | undefined, { name }: Counted): number | undefined {
  if (report === undefined) return undefined;
  return report.counts.find(({ kind }) => kind === fileNames[name])?.count ?? 0;
}
