import { realpath } from "node:fs/promises";
import { readPasswords } from "./cluster.js";
import { embeddedFolders } from "./folders.js";
import { findServer } from "./server.js";
import { type EmbeddedUrls, urlsOf } from "./urls.js";

/**
 * Where the embedded server of a data folder is reached; undefined where none runs there that this account can see. Starts,
 * makes and shares nothing, so that the server may stop at any time.
 */
export async function findEmbeddedPostgres(dataDir: string): Promise<EmbeddedUrls | undefined> {
  const root = await realpath(dataDir).catch(() => undefined);
  if (root === undefined) return undefined;
  const folders = embeddedFolders(root);
  const server = findServer(folders);
  return server?.status === "ready" ? urlsOf(server.port, await readPasswords(folders)) : undefined;
}
