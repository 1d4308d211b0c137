import { randomBytes, randomUUID } from "node:crypto";
import { inspect } from "node:util";
import { beforeEach, describe, expect, test } from "vitest";
import { type KeyRing, openKeyRing } from "../../src/option-tokens/key-ring.js";
import { createOptionTokens, type Option } from "../../src/option-tokens/option-tokens.js";
import { createMemoryKeyStore, type MemoryKeyStore } from "./memory-key-store.js";

const holder = { tenantId: randomUUID(), organizationId: undefined, companyId: undefined };
const hourMs = 60 * 60 * 1000;
const startMs = Date.UTC(2026, 10, 23, 15);

let nowMs: number;
let store: MemoryKeyStore;

beforeEach(() => {
  nowMs = startMs;
  store = createMemoryKeyStore();
});

describe("a key ring", () => {
  test("creates the first key of an empty store: 32 random bytes", async () => {
    const ring = await open();
    expect(store.keys).toEqual([
      { kid: ring.current().kid, secret: expect.objectContaining({ length: 32 }), createdAtMs: startMs },
    ]);
    const other = createMemoryKeyStore();
    await openKeyRing({ store: other, now: () => nowMs });
    expect(other.keys[0]?.secret).not.toEqual(store.keys[0]?.secret);
  });

  test("uses the key in the store", async () => {
    const first = await open();
    const second = await open();
    expect(second.current().kid).toBe(first.current().kid);
    expect(store.keys).toHaveLength(1);
  });

  test("does not show its keys when printed", async () => {
    const shown = inspect((await open()).current(), { depth: null, showHidden: true });
    const [{ secret } = { secret: Buffer.alloc(0) }] = store.keys;
    for (const form of ["hex", "base64", "base64url"] as const) expect(shown).not.toContain(secret.toString(form));
    expect(shown).toContain("KeyObject");
  });

  test.each([
    ["a short secret", { kid: "abcdefgh", secret: randomBytes(16), createdAtMs: startMs }],
    ["a long id", { kid: "abcdefghi", secret: randomBytes(32), createdAtMs: startMs }],
  ])("rejects a store with %s", async (_, key) => {
    store.keys = [key];
    await expect(open()).rejects.toThrow("the key store contains an invalid option token key");
  });

  test("throws if the store is emptied while in use", async () => {
    const ring = await open();
    store.keys = [];
    expect(await ring.find("abcdefgh")).toBeUndefined();
    expect(() => ring.current()).toThrow("is empty");
  });
});

describe("rotation", () => {
  test("creates a new key once the newest is 24 hours old", async () => {
    const ring = await open();
    const first = ring.current().kid;
    await passTime(ring, 24 * hourMs - 1);
    expect(ring.current().kid).toBe(first);
    await passTime(ring, 1);
    expect(ring.current().kid).not.toBe(first);
    expect(store.keys).toHaveLength(2);
  });

  test("keeps a replaced key for two hours", async () => {
    const ring = await open();
    const first = ring.current().kid;
    await passTime(ring, 24 * hourMs);
    await passTime(ring, 2 * hourMs - 1);
    expect(await ring.find(first)).toBeDefined();
    await passTime(ring, 1);
    expect(await ring.find(first)).toBeUndefined();
    expect(store.keys.map(({ kid }) => kid)).toEqual([ring.current().kid]);
  });

  test("never leaves more than two keys", async () => {
    const ring = await open();
    for (let hours = 0; hours < 24 * 7; hours++) {
      await passTime(ring, hourMs);
      expect(store.keys.length).toBeLessThanOrEqual(2);
    }
    expect(nowMs - (store.keys.at(-1)?.createdAtMs ?? 0)).toBeLessThanOrEqual(24 * hourMs);
  });

  test("leaves the ring unchanged if the store fails", async () => {
    const ring = await open();
    const { kid } = ring.current();
    store.failure = new Error("away");
    nowMs += 25 * hourMs;
    await expect(ring.rotate()).rejects.toThrow("away");
    expect(ring.current().kid).toBe(kid);
    expect(await ring.find(kid)).toBeDefined();
  });

  test("does not shorten the validity of a token", async () => {
    const ring = await open();
    const tokens = createOptionTokens({ keyRing: ring, now: () => nowMs });
    nowMs += 24 * hourMs - 1;
    const option = makeOption();
    const { token } = tokens.seal(option, holder);
    await passTime(ring, 10 * 60 * 1000 - 1);
    expect((await tokens.open(token, holder)).kind).toBe("OPTION");
    await passTime(ring, 1);
    expect(await tokens.open(token, holder)).toMatchObject({ kind: "EXPIRED" });
  });

  test("continues beside a key from a clock that is years ahead, and does not use that key early", async () => {
    const future = { kid: "ahead-of", secret: randomBytes(32), createdAtMs: startMs + 2 * 365 * 24 * hourMs };
    store.keys = [future];
    const ring = await open();
    const first = ring.current().kid;
    expect(first).not.toBe(future.kid);
    await passTime(ring, 24 * hourMs);
    expect([first, future.kid]).not.toContain(ring.current().kid);
    await passTime(ring, 2 * hourMs);
    expect(await ring.find(first)).toBeUndefined();
  });
});

describe("two rings that share a store", () => {
  test("open each other's tokens, even if only one has rotated", async () => {
    const [first, second] = [await open(), await open()];
    await expectOpened(first, second);
    await passTime(first, 24 * hourMs);
    expect(first.current().kid).not.toBe(second.current().kid);
    await expectOpened(second, first);
    await expectOpened(first, second);
    expect(second.current().kid).toBe(first.current().kid);
  });

  test("open each other's tokens if they start at the same time, each with its own key", async () => {
    const [first, second] = await Promise.all([open(), open()]);
    expect(store.keys).toHaveLength(2);
    await expectOpened(first, second);
    await expectOpened(second, first);
    await Promise.all([passTime(first, hourMs), second.rotate()]);
    expect(second.current().kid).toBe(first.current().kid);
  });

  test("read the store only for unknown keys", async () => {
    const [first, second] = [await open(), await open()];
    const before = store.loads;
    await expectOpened(first, second);
    expect(store.loads).toBe(before);
  });
});

function open(): Promise<KeyRing> {
  return openKeyRing({ store, now: () => nowMs });
}

async function passTime(ring: KeyRing, ms: number): Promise<void> {
  nowMs += ms;
  await ring.rotate();
}

async function expectOpened(sealing: KeyRing, opening: KeyRing): Promise<void> {
  const now = () => nowMs;
  const option = makeOption();
  const { token } = createOptionTokens({ keyRing: sealing, now }).seal(option, holder);
  const opened = await createOptionTokens({ keyRing: opening, now }).open(token, holder);
  expect(opened).toMatchObject({ kind: "OPTION", option: { slotId: option.slotId } });
}

function makeOption(): Option {
  return {
    slotId: randomUUID(),
    minutes: 20,
    visitMinutes: undefined,
    generation: 1,
    serviceId: randomUUID(),
    locationId: randomUUID(),
    emergency: false,
    subject: { kind: "APPOINTMENT", id: randomUUID() },
    startsAtMs: nowMs + hourMs,
  };
}
