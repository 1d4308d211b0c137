import { randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { type KeyRing, openKeyRing } from "../../src/option-tokens/key-ring.js";
import { createOptionTokens } from "../../src/option-tokens/option-tokens.js";
import { createPageTokens, type PageTokens } from "../../src/option-tokens/page-tokens.js";
import { createMemoryKeyStore, type MemoryKeyStore } from "./memory-key-store.js";

const startMs = Date.UTC(2026, 10, 23, 15);
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const holder = "a list of somebody";

let nowMs: number;
let store: MemoryKeyStore;
let ring: KeyRing;
let tokens: PageTokens;

beforeEach(async () => {
  nowMs = startMs;
  store = createMemoryKeyStore();
  ring = await open();
  tokens = createPageTokens(ring);
});

test("a token returns its sealed position, does not reveal it, and is short enough for the contract", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ minLength: 1, maxLength: 150, unit: "grapheme" }), fc.string(), async (place, who) => {
      const token = await tokens.seal(place, who);
      expect(await tokens.open(token, who)).toBe(place);
      expect(token).toMatch(/^[\w.-]{1,1024}$/);
    }),
    { numRuns: 50 },
  );
  expect(Buffer.from(await tokens.seal("a place", holder), "base64url").toString("latin1")).not.toContain("place");
});

describe("rejected are", () => {
  test("a token of another holder", async () => {
    const token = await tokens.seal("place", holder);
    expect(await tokens.open(token, `${holder} `)).toBeUndefined();
    expect(await tokens.open(token, "")).toBeUndefined();
  });

  test("a token with any one character changed, added or missing", async () => {
    const token = await tokens.seal("place", holder);
    for (const [index, character] of Array.from(token).entries()) {
      const [before, after] = [token.slice(0, index), token.slice(index + 1)];
      for (const other of [character === "A" ? "B" : "A", "", `${character}A`, "=", " "])
        expect(await tokens.open(before + other + after, holder), `${other} at ${index}`).toBeUndefined();
    }
  });

  test("any other text, without reading the store", async () => {
    const before = store.loads;
    await fc.assert(
      fc.asyncProperty(fc.string(), async (text) => {
        expect(await tokens.open(text, holder)).toBeUndefined();
      }),
      { numRuns: 50 },
    );
    expect(store.loads).toBe(before);
  });

  test("an option token as a page token, and the reverse", async () => {
    const options = createOptionTokens({ keyRing: ring, now: () => nowMs });
    const finder = { tenantId: randomUUID(), organizationId: undefined, companyId: undefined };
    const { token } = options.seal(makeOption(), finder);
    expect(await tokens.open(token, holder)).toBeUndefined();
    const page = await tokens.seal("x".repeat(93), holder);
    expect(await options.open(page, finder)).toEqual({ kind: "INVALID" });
  });

  test("a token with a key of another ring", async () => {
    const token = await tokens.seal("place", holder);
    store = createMemoryKeyStore();
    expect(await createPageTokens(await open()).open(token, holder)).toBeUndefined();
  });
});

test("another process opens a token, even one sealed with a key it does not know yet", async () => {
  const other = createPageTokens(await open());
  nowMs += 24 * hourMs;
  await ring.rotate();
  expect(await other.open(await tokens.seal("place", holder), holder)).toBe("place");
});

test("a token can be opened for at least an hour after a rotation that its process has not seen", async () => {
  const other = await open();
  nowMs += 24 * hourMs;
  await other.rotate();
  nowMs += 59 * minuteMs;
  const token = await tokens.seal("place", holder);
  for (let minutes = 0; minutes < 60; minutes += 20) {
    nowMs += 20 * minuteMs;
    await Promise.all([ring.rotate(), other.rotate()]);
    expect(await createPageTokens(other).open(token, holder)).toBe("place");
  }
});

function open(): Promise<KeyRing> {
  return openKeyRing({ store, now: () => nowMs });
}

function makeOption() {
  return {
    slotId: randomUUID(),
    minutes: 20,
    visitMinutes: undefined,
    generation: 1,
    serviceId: randomUUID(),
    locationId: randomUUID(),
    emergency: false,
    subject: { kind: "PATIENT" as const, id: randomUUID() },
    startsAtMs: nowMs + hourMs,
  };
}
