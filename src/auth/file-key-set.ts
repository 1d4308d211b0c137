import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import type { KeySet } from "./key-set.js";
import { openRefreshingKeySet } from "./refreshing-key-set.js";
import { usableKeys } from "./usable-keys.js";

/** Where the keys lie. */
export interface FileKeySetOptions {
  /** A file that holds a JSON Web Key Set (RFC 7517) in UTF-8. */
  readonly path: string;
  /** Told about each load that failed; for the log. Must not throw. */
  readonly onError?: (error: Error) => void;
}

const refreshMs = 30_000;
const timeoutMs = 3_000;

/**
 * The keys in a file, which is read again every 30 s by the rules of {@link openRefreshingKeySet}. The content is
 * compared, not the time of the last change: that has a coarse grain, and files that are swapped in may look older. Rejects
 * with an Error that names the path where the file cannot be read at first or has no usable key.
 */
export async function readFileKeySet({ path, onError = () => {} }: FileKeySetOptions): Promise<KeySet> {
  await requireKeys(await readDocument(path), path);
  const load = (signal: AbortSignal) => readDocument(path, signal);
  return openRefreshingKeySet({ url: pathToFileURL(path), load, refreshMs, timeoutMs, onError });
}

/** The document in the file of a key set. Rejects with an Error that names the path. */
export async function readDocument(path: string, signal?: AbortSignal): Promise<string> {
  try {
    return await readFile(path, { encoding: "utf8", signal });
  } catch (cause) {
    throw new Error(`the key set ${path} cannot be read`, { cause });
  }
}

async function requireKeys(document: string, path: string): Promise<void> {
  const { keys } = await usableKeys(document).catch((cause: unknown) => {
    throw new Error(`${path} is not a JSON Web Key Set`, { cause });
  });
  if (keys.length === 0) throw new Error(`${path} holds no key that can verify access tokens`);
}
