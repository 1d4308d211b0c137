import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readFileKeySet } from "../../src/auth/file-key-set.js";
import type { KeySet } from "../../src/auth/key-set.js";
import { patience } from "../support/eventually.js";
import { keySetDocument, makeKey, startMs } from "./token-fixtures.js";

const first = makeKey("ES256", "first");
const second = makeKey("ES256", "second");

let folder: string;
let path: string;
let errors: Error[];
let keySet: KeySet | undefined;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"], now: startMs });
  folder = await mkdtemp(join(tmpdir(), "cupo-keys-"));
  path = join(folder, "keys.json");
  errors = [];
});

afterEach(async () => {
  keySet?.close();
  keySet = undefined;
  await rm(folder, { recursive: true });
  vi.useRealTimers();
});

describe("a key set file", () => {
  it("is read at the start", async () => {
    const opened = await open(keySetDocument(first.publicJwk));
    expect(await opened.key(first)).toBeDefined();
    expect(await opened.key(second)).toBeUndefined();
  });

  it("is read again every 30 seconds", async () => {
    const opened = await open(keySetDocument(first.publicJwk));
    await opened.key(first);
    await writeFile(`${path}.new`, keySetDocument(second.publicJwk));
    await rename(`${path}.new`, path);
    passTime(30_000);
    await vi.waitFor(() => expect(opened.generation()).toBe(2), patience);
    expect(await opened.key(first)).toBeUndefined();
    expect(await opened.key(second)).toBeDefined();
  });

  it("is read again for an unknown key", async () => {
    const opened = await open(keySetDocument(first.publicJwk));
    await opened.key(first);
    await writeFile(path, keySetDocument(first.publicJwk, second.publicJwk));
    vi.setSystemTime(startMs + 30_000);
    expect(await opened.key(second)).toBeDefined();
  });

  it.each([
    ["is gone", () => rm(path)],
    ["is half written", () => writeFile(path, '{"keys":[')],
  ])("keeps its keys while the file %s", async (_name, spoil) => {
    const opened = await open(keySetDocument(first.publicJwk));
    await opened.key(first);
    await spoil();
    passTime(30_000);
    await vi.waitFor(() => expect(errors).toHaveLength(1), patience);
    expect(await opened.key(first)).toBeDefined();
  });

  it.each([
    ["is not JSON", "keys", "is not a JSON Web Key Set"],
    [
      "contains no usable key",
      keySetDocument({ kty: "oct", k: "c2VjcmV0", kid: "x" }),
      "contains no key that can verify",
    ],
  ])("cannot be opened if the file %s", async (_name, document, message) => {
    await expect(open(document)).rejects.toThrow(`${path} ${message}`);
  });

  it("cannot be opened if the file does not exist", async () => {
    await expect(readFileKeySet({ path })).rejects.toThrow(`cannot read the key set ${path}`);
  });
});

async function open(document: string): Promise<KeySet> {
  await writeFile(path, document);
  keySet = await readFileKeySet({ path, onError: (error) => errors.push(error) });
  return keySet;
}

/** Advances the clock and runs the timers. */
function passTime(ms: number): void {
  vi.setSystemTime(Date.now() + ms - 1000);
  vi.advanceTimersByTime(1000);
}
