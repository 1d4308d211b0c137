import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import type { KeySet } from "./key-set.js";
import { openRefreshingKeySet } from "./refreshing-key-set.js";
import { usableKeys } from "./usable-keys.js";

/** The key set file, and a callback for failed loads. */
export interface FileKeySetOptions {
  /** Path of a JSON Web Key Set (RFC 7517) in UTF-8. */
  readonly path: string;
  /**
   * Called for each load that fails or returns no usable key, except the first read. If the first read fails or returns
   * no usable key, {@link readFileKeySet} rejects. Must not throw.
   */
  readonly onError?: (error: Error) => void;
}

const refreshMs = 30_000;
const timeoutMs = 3_000;

/**
 * Opens the key set in a file. The file is read again every 30 s by the rules of {@link openRefreshingKeySet}. Its
 * content is compared, because a file that replaces another file may have an older modification time. Rejects with an
 * Error that names the path if the first read fails or finds no usable key.
 */
export async function readFileKeySet({ path, onError = () => {} }: FileKeySetOptions): Promise<KeySet> {
  await requireKeys(await readDocument(path), path);
  const load = (signal: AbortSignal) => readDocument(path, signal);
  return openRefreshingKeySet({ url: pathToFileURL(path), load, refreshMs, timeoutMs, onError });
}

/** Reads the document of a key set file. Rejects with an Error that names the path. */
export async function readDocument(path: string, signal?: AbortSignal): Promise<string> {
  try {
    return await readFile(path, { encoding: "utf8", signal });
  } catch (cause) {
    throw new Error(`cannot read the key set ${path}`, { cause });
  }
}

async function requireKeys(document: string, path: string): Promise<void> {
  const { keys } = await usableKeys(document).catch((cause: unknown) => {
    throw new Error(`${path} is not a JSON Web Key Set`, { cause });
  });
  if (keys.length === 0) throw new Error(`${path} contains no key that can verify access tokens`);
}
