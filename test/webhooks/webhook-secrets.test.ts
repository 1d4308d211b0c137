import { randomBytes } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { type KeyRing, openKeyRing } from "../../src/option-tokens/key-ring.js";
import { createVault, withGivenKeys } from "../../src/webhooks/webhook-secrets.js";
import { createMemoryKeyStore } from "../option-tokens/memory-key-store.js";
import { testNow } from "../support/clock.js";

const SECRET = Buffer.from("whsec_of-a-webhook");
const [OLD, NEW] = [randomBytes(32), randomBytes(32)];

let ofDatabase: KeyRing;

beforeEach(async () => {
  ofDatabase = await openKeyRing({ store: createMemoryKeyStore(), now: testNow });
});

test("the first given key encrypts, so that neither the database nor a later key opens it", async () => {
  const sealed = vaultWith(NEW, OLD).seal(SECRET);
  expect(await vaultWith(NEW).open(sealed)).toEqual(SECRET);
  await expect(vaultWith().open(sealed)).rejects.toThrow("its key is unknown");
  await expect(vaultWith(OLD).open(sealed)).rejects.toThrow("its key is unknown");
});

test("a key that is no longer the first one still decrypts", async () => {
  expect(await vaultWith(NEW, OLD).open(vaultWith(OLD).seal(SECRET))).toEqual(SECRET);
});

test("what was encrypted before any key was given is still decrypted", async () => {
  expect(await vaultWith(NEW).open(vaultWith().seal(SECRET))).toEqual(SECRET);
});

function vaultWith(...given: readonly Uint8Array[]) {
  return createVault(withGivenKeys(given, ofDatabase));
}
