import { stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";

/** The free space, in bytes, where a folder is, or would be: on the file system of the nearest folder above it that is there. */
export async function freeBytes(folder: string): Promise<number> {
  const isThere = await stat(folder).then(
    () => true,
    () => false,
  );
  if (!isThere && dirname(folder) !== folder) return freeBytes(dirname(folder));
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
