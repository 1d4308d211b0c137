import { realpath } from "node:fs/promises";
import { readPasswords } from "./cluster.js";
import { embeddedFolders } from "./folders.js";
import { findServer } from "./server.js";
import { type EmbeddedUrls, urlsOf } from "./urls.js";

/**
 * Returns the addresses of the embedded server of a data folder. Returns undefined if no server is ready. Rejects if
 * the passwords of a ready server cannot be read. The function does not start the server and does not keep it running,
 * so the server may stop at any time.
 */
export async function findEmbeddedPostgres(dataDir: string): Promise<EmbeddedUrls | undefined> {
  const root = await realpath(dataDir).catch(() => undefined);
  if (root === undefined) return undefined;
  const folders = embeddedFolders(root);
  const server = findServer(folders);
  return server?.status === "ready" ? urlsOf(server.port, await readPasswords(folders)) : undefined;
}
