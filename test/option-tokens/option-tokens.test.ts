import { createSecretKey, randomBytes, randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { CompactEncrypt, compactDecrypt } from "jose";
import { beforeEach, describe, expect, test } from "vitest";
import { openKeyRing } from "../../src/option-tokens/key-ring.js";
import type { OptionHolder } from "../../src/option-tokens/option-claims.js";
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
  slotId: anyUuid,
  minutes: fc.integer({ min: 1, max: 2 ** 16 - 1 }),
  visitMinutes: fc.option(fc.integer({ min: 1, max: 2 ** 16 - 1 }), { nil: undefined }),
  generation: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  serviceId: anyUuid,
  locationId: anyUuid,
  emergency: fc.boolean(),
  subject: fc.record({ kind: fc.constantFrom("APPOINTMENT", "PATIENT"), id: anyUuid }),
  startsAtMs: fc.integer({ min: startMs + 1, max: startMs + 90 * 24 * 60 * minuteMs }),
});
const anyHolder: fc.Arbitrary<OptionHolder> = fc.record({
  tenantId: anyUuid,
  organizationId: fc.option(anyUuid, { nil: undefined }),
  companyId: fc.option(anyUuid, { nil: undefined }),
});
const holder: OptionHolder = { tenantId: randomUUID(), organizationId: randomUUID(), companyId: randomUUID() };

let nowMs: number;
let store: MemoryKeyStore;
let tokens: OptionTokens;

beforeEach(async () => {
  nowMs = startMs;
  store = createMemoryKeyStore();
  tokens = await open();
});

describe("a token", () => {
  test("returns the sealed option and its expiry", async () => {
    await fc.assert(
      fc.asyncProperty(anyOption, anyHolder, async (option, finder) => {
        const { startsAtMs, ...rest } = option;
        const { token, expiresAtMs } = tokens.seal(option, finder);
        expect(expiresAtMs).toBe(Math.min(startMs + 10 * minuteMs, startsAtMs));
        expect(await tokens.open(token, finder)).toEqual({
          kind: "OPTION",
          option: { ...rest, expiresAtMs, jti: expect.stringMatching(/^[0-9a-f-]{36}$/) },
        });
      }),
    );
  });

  test("always has 252 characters, or 255 with the length of the visit, all safe in a URL", async () => {
    await fc.assert(
      fc.asyncProperty(anyOption, anyHolder, async (option, finder) => {
        const { token } = tokens.seal(option, finder);
        expect(token).toMatch(option.visitMinutes === undefined ? /^[\w.-]{252}$/ : /^[\w.-]{255}$/);
      }),
    );
  });

  test("differs each time, and has a different id", async () => {
    const option = makeOption();
    const sealed = Array.from({ length: 100 }, () => tokens.seal(option, holder));
    const opened = await Promise.all(sealed.map(({ token }) => tokens.open(token, holder)));
    expect(new Set(sealed.map(({ token }) => token)).size).toBe(100);
    expect(new Set(opened.map((each) => each.kind === "OPTION" && each.option.jti)).size).toBe(100);
  });

  test("does not reveal its contents", async () => {
    const option = makeOption({ slotId: "61626364-6162-6162-6162-616263646566" });
    const { token } = tokens.seal(option, holder);
    const bytes = token.split(".").map((part) => Buffer.from(part, "base64url").toString("latin1"));
    expect(bytes.join("")).not.toContain("abcd");
    expect(bytes[0]).toBe(`{"alg":"dir","enc":"A256GCM","kid":"${store.keys[0]?.kid}"}`);
  });

  test("cannot be made of an id that is not a lower-case UUID, or of a number out of range", async () => {
    for (const changes of [{ slotId: randomUUID().toUpperCase() }, { generation: -1 }, { generation: 2 ** 32 }])
      expect(() => tokens.seal(makeOption(changes), holder)).toThrow(RangeError);
    for (const changes of [{ tenantId: `${randomUUID()}0` }, { organizationId: "" }, { companyId: "1" }])
      expect(() => tokens.seal(makeOption(), { ...holder, ...changes })).toThrow(RangeError);
  });
});

describe("the expiry of a token", () => {
  test.each([
    ["ten minutes", 60 * minuteMs, 10 * minuteMs],
    ["the start of the slot, if that is earlier", 3 * minuteMs, 3 * minuteMs],
  ])("is after %s, to the millisecond", async (_, startsInMs, livesMs) => {
    const option = makeOption({ startsAtMs: startMs + startsInMs });
    const { token } = tokens.seal(option, holder);
    nowMs = startMs + livesMs - 1;
    expect((await tokens.open(token, holder)).kind).toBe("OPTION");
    nowMs += 1;
    expect(await tokens.open(token, holder)).toMatchObject({ kind: "EXPIRED" });
  });

  test("is immediate for a slot that has begun", async () => {
    const option = makeOption({ startsAtMs: startMs });
    const { token } = tokens.seal(option, holder);
    expect(await tokens.open(token, holder)).toMatchObject({ kind: "EXPIRED" });
  });
});

describe("rejected as invalid are", () => {
  test.each<[string, Partial<OptionHolder>]>([
    ["tenant", { tenantId: randomUUID() }],
    ["organization", { organizationId: randomUUID() }],
    ["company", { companyId: randomUUID() }],
    ["company (no company)", { companyId: undefined }],
    ["organization and company, with the ids exchanged", exchanged(holder)],
    [
      "organization (no organization, and its id as company)",
      { organizationId: undefined, companyId: holder.organizationId },
    ],
  ])("a token of another %s, expired or not", async (_, changes) => {
    const { token } = tokens.seal(makeOption(), holder);
    expect(await tokens.open(token, { ...holder, ...changes })).toEqual({ kind: "INVALID" });
    nowMs += 60 * minuteMs;
    expect(await tokens.open(token, { ...holder, ...changes })).toEqual({ kind: "INVALID" });
    expect(await tokens.open(token, holder)).toMatchObject({ kind: "EXPIRED" });
  });

  test("a token with any one character changed", async () => {
    const option = makeOption();
    const { token } = tokens.seal(option, holder);
    for (const [index, character] of Array.from(token).entries()) {
      const next = alphabet[(alphabet.indexOf(character) + 1) % alphabet.length] ?? "";
      for (const other of [next, "=", " "]) {
        const altered = token.slice(0, index) + other + token.slice(index + 1);
        expect(await tokens.open(altered, holder), `${other} at ${index}`).toEqual({ kind: "INVALID" });
      }
    }
  });

  test("any other encoding of the same bytes", async () => {
    const option = makeOption();
    const { token } = tokens.seal(option, holder);
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
    for (const other of others) expect(await tokens.open(other, holder), other).toEqual({ kind: "INVALID" });
  });

  test("any other text, without reading the store", async () => {
    const before = store.loads;
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), anyTokenLikeText()), async (text) => {
        expect(await tokens.open(text, holder)).toEqual({ kind: "INVALID" });
      }),
      { numRuns: 50 },
    );
    expect(await tokens.open("A".repeat(10_000_000), holder)).toEqual({ kind: "INVALID" });
    expect(store.loads).toBe(before);
  });

  test.each([
    ["of another version", (claims: Buffer) => claims.fill(1, 0, 1)],
    ["with an invalid emergency flag", (claims: Buffer) => claims.fill(2, 85, 86)],
    ["for no kind of subject", (claims: Buffer) => claims.fill(0, 86, 87)],
    ["for an unknown kind of subject", (claims: Buffer) => claims.fill(3, 86, 87)],
  ])("a token %s, although sealed with a valid key", async (_, alter) => {
    const { token } = tokens.seal(makeOption(), holder);
    expect(await tokens.open(await encrypt(await decrypt(token)), holder)).toEqual(await tokens.open(token, holder));
    expect(await tokens.open(await encrypt(alter(await decrypt(token))), holder)).toEqual({ kind: "INVALID" });
  });

  test.each([
    ["of another length", { ciphertextBytes: 110 }],
    ["with an encrypted key", { encryptedKey: "AAAA" }],
    ["of another algorithm", { enc: "A192GCM" }],
    ["with another key management algorithm", { alg: "ecd", enc: "A256GCM" }],
    ["with a key id of invalid characters", { kid: "unkn.own" }],
    ["with another order of header members", { json: '{"enc":"A256GCM","alg":"dir","kid":"unknown1"}' }],
  ])("a token %s, without reading the store", async (_, changes) => {
    const before = store.loads;
    expect(await tokens.open(makeTokenText({}), holder)).toEqual({ kind: "INVALID" });
    expect(store.loads).toBe(before + 1);
    expect(await tokens.open(makeTokenText(changes), holder)).toEqual({ kind: "INVALID" });
    expect(store.loads).toBe(before + 1);
  });

  test("a token with a key of another ring", async () => {
    const option = makeOption();
    const { token } = tokens.seal(option, holder);
    store = createMemoryKeyStore();
    expect(await (await open()).open(token, holder)).toEqual({ kind: "INVALID" });
  });
});

test("an unreachable store is not reported as an invalid token", async () => {
  const option = makeOption();
  const { token } = tokens.seal(option, holder);
  store = createMemoryKeyStore();
  const others = await open();
  store.failure = new Error("away");
  await expect(others.open(token, holder)).rejects.toThrow("away");
});

async function open(): Promise<OptionTokens> {
  const now = () => nowMs;
  return createOptionTokens({ keyRing: await openKeyRing({ store, now }), now });
}

function makeOption(changes: Partial<Option> = {}): Option {
  return {
    slotId: randomUUID(),
    minutes: 20,
    visitMinutes: undefined,
    generation: 7,
    serviceId: randomUUID(),
    locationId: randomUUID(),
    emergency: true,
    subject: { kind: "PATIENT", id: randomUUID() },
    startsAtMs: startMs + 60 * minuteMs,
    ...changes,
  };
}

function anyTokenLikeText(): fc.Arbitrary<string> {
  const part = (bytes: number) => fc.uint8Array({ minLength: bytes, maxLength: bytes }).map(base64url);
  return fc.tuple(part(46), fc.constant(""), part(12), part(111), part(16)).map((parts) => parts.join("."));
}

/** Builds a token in the right format with an unknown key id, with the given changes. */
function makeTokenText(changes: {
  alg?: string;
  enc?: string;
  kid?: string;
  json?: string;
  encryptedKey?: string;
  ciphertextBytes?: number;
}): string {
  const { alg = "dir", enc = "A256GCM", kid = "unknown1", encryptedKey = "", ciphertextBytes = 111 } = changes;
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

async function decrypt(token: string): Promise<Buffer> {
  const { secret = new Uint8Array() } = store.keys[0] ?? {};
  return Buffer.from((await compactDecrypt(token, createSecretKey(secret))).plaintext);
}

function exchanged({ organizationId, companyId }: OptionHolder): Partial<OptionHolder> {
  return { organizationId: companyId, companyId: organizationId };
}

function bytesOf(part: string): Buffer {
  return Buffer.from(part, "base64url");
}
