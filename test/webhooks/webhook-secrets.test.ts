import { randomBytes } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { type KeyRing, openKeyRing } from "../../src/option-tokens/key-ring.js";
import { readConfig } from "../../src/settings/config.js";
import { createVault, withGivenKeys } from "../../src/webhooks/webhook-secrets.js";
import { createMemoryKeyStore } from "../option-tokens/memory-key-store.js";
import { testNow } from "../support/clock.js";
import { problemsOf } from "../support/config-problems.js";

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

test("WEBHOOK_KEYS has keys of 32 bytes in base64, the first one first", () => {
  const given = readConfig({ WEBHOOK_KEYS: [NEW, OLD].map((key) => key.toString("base64")).join(" ") });
  expect(given.webhooks.keys).toEqual([NEW, OLD]);
});

test.each([31, 33])("WEBHOOK_KEYS with %i bytes prevents the start, and is not shown", (length) => {
  const problems = problemsOf({ WEBHOOK_KEYS: `${OLD.toString("base64")} ${randomBytes(length).toString("base64")}` });
  expect(problems).toEqual([
    "WEBHOOK_KEYS is invalid (its value is secret and not shown); it must be keys of 32 bytes in base64, separated by spaces",
  ]);
});

function vaultWith(...given: readonly Uint8Array[]) {
  return createVault(withGivenKeys(given, ofDatabase));
}
