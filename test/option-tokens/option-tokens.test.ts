import { createSecretKey, randomBytes, randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { CompactEncrypt } from "jose";
import { beforeEach, describe, expect, test } from "vitest";
import { openKeyRing } from "../../src/option-tokens/key-ring.js";
import { createOptionTokens, type Option, type OptionTokens } from "../../src/option-tokens/option-tokens.js";
import { createMemoryKeyStore, type MemoryKeyStore } from "./memory-key-store.js";

const startMs = Date.UTC(2026, 10, 23, 15);
const minuteMs = 60_000;
const alphabet = Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");
const anyUuid = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) =>
  Buffer.from(bytes)
    .toString("hex")
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"),
);
const anyOption: fc.Arbitrary<Option> = fc.record({
  tenantId: anyUuid,
  slotId: anyUuid,
  generation: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  serviceId: anyUuid,
  subject: fc.record({ kind: fc.constantFrom("APPOINTMENT", "PATIENT"), id: anyUuid }),
  startsAtMs: fc.integer({ min: startMs + 1, max: startMs + 90 * 24 * 60 * minuteMs }),
});

let nowMs: number;
let store: MemoryKeyStore;
let tokens: OptionTokens;

beforeEach(async () => {
  nowMs = startMs;
  store = createMemoryKeyStore();
  tokens = await open();
});

describe("a token", () => {
  test("gives back the option that was sealed, and when it ends", async () => {
    await fc.assert(
      fc.asyncProperty(anyOption, async (option) => {
        const { tenantId, startsAtMs, ...rest } = option;
        const { token, expiresAtMs } = await tokens.seal(option);
        expect(expiresAtMs).toBe(Math.min(startMs + 10 * minuteMs, startsAtMs));
        expect(await tokens.open(token, tenantId)).toEqual({
          kind: "OPTION",
          option: { ...rest, expiresAtMs, jti: expect.stringMatching(/^[0-9a-f-]{36}$/) },
        });
      }),
    );
  });

  test("has 227 characters whatever it stands for, all of them good in an address", async () => {
    await fc.assert(
      fc.asyncProperty(anyOption, async (option) => {
        expect((await tokens.seal(option)).token).toMatch(/^[\w.-]{227}$/);
      }),
    );
  });

  test("is another one each time, with another id", async () => {
    const option = makeOption();
    const sealed = await Promise.all(Array.from({ length: 100 }, () => tokens.seal(option)));
    const opened = await Promise.all(sealed.map(({ token }) => tokens.open(token, option.tenantId)));
    expect(new Set(sealed.map(({ token }) => token)).size).toBe(100);
    expect(new Set(opened.map((each) => each.kind === "OPTION" && each.option.jti)).size).toBe(100);
  });

  test("shows none of what it says", async () => {
    const option = makeOption({ slotId: "61626364-6162-6162-6162-616263646566" });
    const { token } = await tokens.seal(option);
    const bytes = token.split(".").map((part) => Buffer.from(part, "base64url").toString("latin1"));
    expect(bytes.join("")).not.toContain("abcd");
    expect(bytes[0]).toBe(`{"alg":"dir","enc":"A256GCM","kid":"${store.keys[0]?.kid}"}`);
  });

  test("is not made of what is no UUID in lower case, or no number that it can hold", async () => {
    await expect(tokens.seal(makeOption({ slotId: randomUUID().toUpperCase() }))).rejects.toThrow(RangeError);
    await expect(tokens.seal(makeOption({ tenantId: `${randomUUID()}0` }))).rejects.toThrow(RangeError);
    await expect(tokens.seal(makeOption({ generation: -1 }))).rejects.toThrow(RangeError);
    await expect(tokens.seal(makeOption({ generation: 2 ** 32 }))).rejects.toThrow(RangeError);
  });
});

describe("the time of a token", () => {
  test.each([
    ["ten minutes", 60 * minuteMs, 10 * minuteMs],
    ["the start of the slot, where that comes first", 3 * minuteMs, 3 * minuteMs],
  ])("ends after %s, to the millisecond", async (_, startsInMs, livesMs) => {
    const option = makeOption({ startsAtMs: startMs + startsInMs });
    const { token } = await tokens.seal(option);
    nowMs = startMs + livesMs - 1;
    expect((await tokens.open(token, option.tenantId)).kind).toBe("OPTION");
    nowMs += 1;
    expect(await tokens.open(token, option.tenantId)).toMatchObject({ kind: "EXPIRED" });
  });

  test("is over from the beginning for a slot that has begun", async () => {
    const option = makeOption({ startsAtMs: startMs });
    const { token } = await tokens.seal(option);
    expect(await tokens.open(token, option.tenantId)).toMatchObject({ kind: "EXPIRED" });
  });
});

describe("refused as invalid is", () => {
  test("a token of another tenant, in time or not", async () => {
    const { token } = await tokens.seal(makeOption());
    expect(await tokens.open(token, randomUUID())).toEqual({ kind: "INVALID" });
    nowMs += 60 * minuteMs;
    expect(await tokens.open(token, randomUUID())).toEqual({ kind: "INVALID" });
  });

  test("a token with any one character changed", async () => {
    const option = makeOption();
    const { token } = await tokens.seal(option);
    for (const [index, character] of Array.from(token).entries()) {
      const next = alphabet[(alphabet.indexOf(character) + 1) % alphabet.length] ?? "";
      for (const other of [next, "=", " "]) {
        const altered = token.slice(0, index) + other + token.slice(index + 1);
        expect(await tokens.open(altered, option.tenantId), `${other} at ${index}`).toEqual({ kind: "INVALID" });
      }
    }
  });

  test("any other way to write the same bytes", async () => {
    const option = makeOption();
    const { token } = await tokens.seal(option);
    const [header = "", , iv = "", ciphertext = "", tag = ""] = token.split(".");
    const sameBytes = [header, ciphertext, tag].flatMap((part) =>
      alphabet
        .map((last) => part.slice(0, -1) + last)
        .filter((other) => other !== part && bytesOf(other).equals(bytesOf(part)))
        .map((other) => token.replace(part, other)),
    );
    const standard = [iv, ciphertext, tag].map((part) => token.replace(part, bytesOf(part).toString("base64")));
    const others = [...sameBytes, ...standard, `${token}\n`, ` ${token}`, `${token}=`].filter((text) => text !== token);
    expect(sameBytes.length).toBeGreaterThan(10);
    for (const other of others) expect(await tokens.open(other, option.tenantId), other).toEqual({ kind: "INVALID" });
  });

  test("any text, without a look at the store", async () => {
    const before = store.loads;
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), anyTokenLikeText()), async (text) => {
        expect(await tokens.open(text, randomUUID())).toEqual({ kind: "INVALID" });
      }),
      { numRuns: 50 },
    );
    expect(await tokens.open("A".repeat(10_000_000), randomUUID())).toEqual({ kind: "INVALID" });
    expect(store.loads).toBe(before);
  });

  test.each([
    ["of another version", (claims: Buffer) => claims.fill(2, 0, 1)],
    ["for no kind of subject", (claims: Buffer) => claims.fill(0, 69, 70)],
    ["for an unknown kind of subject", (claims: Buffer) => claims.fill(3, 69, 70)],
  ])("a token %s, though our own key sealed it", async (_, alter) => {
    const claims = Buffer.alloc(92, 1);
    const tenantId = "01010101-0101-0101-0101-010101010101";
    expect((await tokens.open(await encrypt(claims), tenantId)).kind).not.toBe("INVALID");
    expect(await tokens.open(await encrypt(alter(claims)), tenantId)).toEqual({ kind: "INVALID" });
  });

  test.each([
    ["of another length", { ciphertextBytes: 93 }],
    ["with an encrypted key", { encryptedKey: "AAAA" }],
    ["of another algorithm", { enc: "A192GCM" }],
    ["of another way to give the key", { alg: "ecd", enc: "A256GCM" }],
    ["with a key id of other characters", { kid: "unkn.own" }],
    ["with a header of another order", { json: '{"enc":"A256GCM","alg":"dir","kid":"unknown1"}' }],
  ])("a token %s, without a look at the store", async (_, changes) => {
    const before = store.loads;
    expect(await tokens.open(makeTokenText({}), randomUUID())).toEqual({ kind: "INVALID" });
    expect(store.loads).toBe(before + 1);
    expect(await tokens.open(makeTokenText(changes), randomUUID())).toEqual({ kind: "INVALID" });
    expect(store.loads).toBe(before + 1);
  });

  test("a token whose key is of another ring", async () => {
    const option = makeOption();
    const { token } = await tokens.seal(option);
    store = createMemoryKeyStore();
    expect(await (await open()).open(token, option.tenantId)).toEqual({ kind: "INVALID" });
  });
});

test("a store that cannot be reached is not taken for an invalid token", async () => {
  const option = makeOption();
  const { token } = await tokens.seal(option);
  store = createMemoryKeyStore();
  const others = await open();
  store.failure = new Error("away");
  await expect(others.open(token, option.tenantId)).rejects.toThrow("away");
});

async function open(): Promise<OptionTokens> {
  const now = () => nowMs;
  return createOptionTokens({ keyRing: await openKeyRing({ store, now }), now });
}

function makeOption(changes: Partial<Option> = {}): Option {
  return {
    tenantId: randomUUID(),
    slotId: randomUUID(),
    generation: 7,
    serviceId: randomUUID(),
    subject: { kind: "PATIENT", id: randomUUID() },
    startsAtMs: startMs + 60 * minuteMs,
    ...changes,
  };
}

function anyTokenLikeText(): fc.Arbitrary<string> {
  const part = (bytes: number) => fc.uint8Array({ minLength: bytes, maxLength: bytes }).map(base64url);
  return fc.tuple(part(46), fc.constant(""), part(12), part(92), part(16)).map((parts) => parts.join("."));
}

/** A token in the form of ours that names a key which nobody has, but for what is changed. */
function makeTokenText(changes: {
  alg?: string;
  enc?: string;
  kid?: string;
  json?: string;
  encryptedKey?: string;
  ciphertextBytes?: number;
}): string {
  const { alg = "dir", enc = "A256GCM", kid = "unknown1", encryptedKey = "", ciphertextBytes = 92 } = changes;
  const { json = JSON.stringify({ alg, enc, kid }) } = changes;
  const parts = [randomBytes(12), randomBytes(ciphertextBytes), randomBytes(16)];
  return [base64url(Buffer.from(json)), encryptedKey, ...parts.map(base64url)].join(".");
}

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}

function encrypt(claims: Uint8Array): Promise<string> {
  const { kid = "", secret = new Uint8Array() } = store.keys[0] ?? {};
  const header = { alg: "dir", enc: "A256GCM", kid };
  return new CompactEncrypt(claims).setProtectedHeader(header).encrypt(createSecretKey(secret));
}

function bytesOf(part: string): Buffer {
  return Buffer.from(part, "base64url");
}
