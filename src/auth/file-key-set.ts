import { readFile } from "node:fs/promises";
import { importKeys } from "./import-keys.js";
import type { KeySet } from "./key-set.js";
import { openRefreshingKeySet } from "./refreshing-key-set.js";

/** Where the keys lie. */
export interface FileKeySetOptions {
  /** A file that holds a JSON Web Key Set (RFC 7517) in UTF-8. */
  readonly path: string;
  /** Milliseconds of wall-clock time. */
  now(): number;
  /** Told about each load that failed; for the log. Must not throw. */
  readonly onError?: (error: Error) => void;
}

const refreshMs = 30_000;

/**
 * The keys in a file, which is read again every 30 s by the rules of {@link openRefreshingKeySet}. The content is
 * compared, not the time of the last change: that has a coarse grain, and files that are swapped in may look older. Rejects
 * with an Error that names the path where the file cannot be read at first or has no usable key.
 */
export async function readFileKeySet(options: FileKeySetOptions): Promise<KeySet> {
  const { path, now, onError = () => {} } = options;
  const load = () => readDocument(path);
  await requireKeys(await load(), path);
  return openRefreshingKeySet({ load, now, onError, refreshMs });
}

async function readDocument(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new Error(`the key set ${path} cannot be read`, { cause });
  }
}

async function requireKeys(document: string, path: string): Promise<void> {
  const keys = await importKeys(document).catch((cause: unknown) => {
    throw new Error(`${path} is not a JSON Web Key Set`, { cause });
  });
  if (keys.size === 0) throw new Error(`${path} holds no key that can verify access tokens`);
}
