import type { KeySet } from "./key-set.js";
import { openRefreshingKeySet } from "./refreshing-key-set.js";

/** How to reach an issuer's published keys. */
export interface RemoteKeySetOptions {
  /** Address of the JSON Web Key Set: https, or http on a loopback address. */
  readonly url: string;
  /** Milliseconds of wall-clock time. */
  now(): number;
  /** Told about each load that failed; for the log. Must not throw. */
  readonly onError?: (error: Error) => void;
  /** In place of the global fetch. */
  readonly fetch?: typeof globalThis.fetch;
  /** For one load as a whole; 3000 by default. */
  readonly timeoutMs?: number;
}

const refreshMs = 5 * 60 * 1000;
const defaultTimeoutMs = 3000;
const maxDocumentBytes = 256 * 1024;

/**
 * The keys that an issuer publishes, refreshed every 5 min by the rules of {@link openRefreshingKeySet}. A load follows
 * no redirect, so that the keys come from the configured address alone, and takes at most 256 KiB. Throws an Error for
 * an address that must not be used.
 */
export function openRemoteKeySet(options: RemoteKeySetOptions): KeySet {
  const { now, onError = () => {}, fetch = globalThis.fetch, timeoutMs = defaultTimeoutMs } = options;
  const url = parseKeySetUrl(options.url);
  return openRefreshingKeySet({
    now,
    onError,
    refreshMs,
    load: async (closing) => {
      const signal = AbortSignal.any([closing, AbortSignal.timeout(timeoutMs)]);
      try {
        return await fetchDocument(fetch, url, signal);
      } catch (cause) {
        throw new Error(`the key set at ${url.origin}${url.pathname} cannot be loaded`, { cause });
      }
    },
  });
}

function parseKeySetUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const allowed = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname));
  if (url === undefined || !allowed || url.username !== "" || url.password !== "") {
    throw new Error("the address of a key set must be an https URL (http on a loopback address) without credentials");
  }
  return url;
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}

async function fetchDocument(fetch: typeof globalThis.fetch, url: URL, signal: AbortSignal): Promise<string> {
  const accept = "application/jwk-set+json, application/json";
  const { status, body } = await fetch(url, { redirect: "error", headers: { accept }, signal });
  if (status !== 200 || body === null) {
    await body?.cancel();
    throw new Error(`the answer is ${status}, not 200 with a body`);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxDocumentBytes) throw new Error(`the answer is longer than ${maxDocumentBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
