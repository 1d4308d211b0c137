import { stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Returns the free bytes of the file system that holds a folder. If the folder does not exist, returns the free bytes
 * for its nearest existing parent.
 */
export async function freeBytes(folder: string): Promise<number> {
  const isThere = await stat(folder).then(
    () => true,
    () => false,
  );
  if (!isThere && dirname(folder) !== folder) return freeBytes(dirname(folder));
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
