import { setPriority } from "node:os";

/**
 * Priority of an import (nice value). An import takes minutes, so other programs of the machine, such as the service,
 * get the processor first.
 */
const BELOW_OTHERS = 10;

/** The options of `cupo import`. */
export interface ImportFlags {
  readonly source: string;
  readonly url: string;
  readonly dryRun?: boolean;
}

/** Runs `cupo import` and sets the exit code of the process. Throws if CUPO_TOKEN is not set. */
export async function runImport(folder: string, { source, url, dryRun = false }: ImportFlags): Promise<void> {
  const token = process.env["CUPO_TOKEN"] ?? "";
  if (token === "") throw new Error("CUPO_TOKEN is not set: it must have an access token with the scope import:write");
  setPriority(BELOW_OTHERS);
  const { importFolder } = await import("./import-folder.js");
  const target = { url, token, sourceSystem: source, validateOnly: dryRun };
  const outputs = { output: process.stdout, progress: process.stderr, now: Date.now };
  process.exitCode = await importFolder(folder, target, outputs);
}
