import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from "jose";

/** The key pair of the development issuer. */
export interface DevelopmentKey {
  /** The thumbprint of the key (RFC 7638). */
  readonly kid: string;
  readonly publicJwk: JWK;
  readonly privateKey: CryptoKey;
}

/**
 * Opens the ES256 key pair in `development-key.json` of a data folder. Creates the folder and the file if they are
 * missing. Only the operating-system user of the process can read the file. Rejects with an Error that names the file
 * if its content is not a key.
 *
 * Processes that start together all use the key of the first one: a hard link creates the complete file in one step,
 * and fails if the file exists.
 */
export async function openDevelopmentKey(dataDir: string): Promise<DevelopmentKey> {
  const path = join(dataDir, "development-key.json");
  if ((await readIfPresent(path)) === undefined) {
    await mkdir(dataDir, { recursive: true });
    await createKeyFile(path);
  }
  const text = await readFile(path, "utf8");
  return importKeyPair(text).catch((cause: unknown) => {
    throw new Error(`${path} is not a development key; delete the file and start again to create a new key`, { cause });
  });
}

async function readIfPresent(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
}

async function createKeyFile(path: string): Promise<void> {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, JSON.stringify(await exportJWK(privateKey)), { mode: 0o600, flag: "wx", flush: true });
  try {
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await unlink(draft);
  }
}

async function importKeyPair(text: string): Promise<DevelopmentKey> {
  const jwk = JSON.parse(text) as JWK;
  const privateKey = await importJWK(jwk, "ES256");
  if (privateKey instanceof Uint8Array || privateKey.type !== "private") throw new TypeError("not a private key");
  const { d: _, ...publicJwk } = jwk;
  const kid = await calculateJwkThumbprint(publicJwk);
  return { kid, publicJwk: { ...publicJwk, kid, alg: "ES256", use: "sig" }, privateKey };
}
