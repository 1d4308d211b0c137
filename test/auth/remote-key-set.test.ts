import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { KeyReference, KeySet } from "../../src/auth/key-set.js";
import { openRemoteKeySet } from "../../src/auth/remote-key-set.js";
import { createTokenVerifier } from "../../src/auth/token-verifier.js";
import { patience } from "../support/eventually.js";
import { answerWith, type KeyServer, startKeyServer } from "./key-server.js";
import { defaults, goodClaims, keySetDocument, makeKey, refusal, signToken, startMs } from "./token-fixtures.js";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const first = makeKey("ES256", "first");
const second = makeKey("ES256", "second");
const firstDocument = keySetDocument(first.publicJwk);
const secondDocument = keySetDocument(second.publicJwk);
const unknown: KeyReference = { alg: "ES256", kid: "unknown" };

let server: KeyServer;
let keySet: KeySet;
let errors: Error[];
let fetches: number;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"], now: startMs });
  errors = [];
  fetches = 0;
  server = await startKeyServer(firstDocument);
});

afterEach(async () => {
  keySet.close();
  await server.close();
  vi.useRealTimers();
});

describe("a remote key set", () => {
  it("is loaded immediately, and the first callers wait for the same load", async () => {
    open();
    expect(fetches).toBe(1);
    const keys = await Promise.all([keySet.key(first), keySet.key(first), keySet.key(unknown)]);
    expect(keys.map((key) => key?.type)).toEqual(["public", "public", undefined]);
    expect(server.requests.keySet).toBe(1);
    expect(keySet.generation()).toBe(1);
  });

  it("is refreshed in the background every five minutes, by a document of at most 256 KiB", async () => {
    await openLoaded();
    server.answer = answerWith(secondDocument.padStart(256 * 1024));
    await passTime(5 * minuteMs - 1);
    expect(server.requests.keySet).toBe(1);
    await passTime(1);
    expect(server.requests.keySet).toBe(2);
    expect(await keySet.key(second)).toBeDefined();
    expect(keySet.generation()).toBe(2);
  });

  it("reports the age of its keys since the last successful load", async () => {
    open();
    expect(keySet.ageMs?.()).toBeUndefined();
    await keySet.key(first);
    expect(keySet.ageMs?.()).toBe(0);
    server.answer = answerWith("", 500);
    await passTime(7 * minuteMs);
    expect(keySet.ageMs?.()).toBe(7 * minuteMs);
    server.answer = answerWith(firstDocument);
    await passTime(minuteMs);
    expect(keySet.ageMs?.()).toBeLessThanOrEqual(minuteMs);
  });

  it("keeps its generation while the document stays the same", async () => {
    await openLoaded();
    await passTime(5 * minuteMs);
    expect(server.requests.keySet).toBe(2);
    expect(keySet.generation()).toBe(1);
  });

  it("is refreshed for an unknown key, so that a rotation takes effect immediately", async () => {
    await openLoaded();
    skipTime(30_000);
    server.answer = answerWith(keySetDocument(first.publicJwk, second.publicJwk));
    expect(await keySet.key(second)).toBeDefined();
    expect(await keySet.key(first)).toBeDefined();
    expect(server.requests.keySet).toBe(2);
  });

  it("sends one request in 30 seconds for any number of unknown keys", async () => {
    await openLoaded();
    for (let seconds = 0; seconds < 90; seconds += 1) {
      skipTime(1000);
      const wanted = Array.from({ length: 20 }, (_, n) => keySet.key({ alg: "ES256", kid: `${seconds} ${n}` }));
      expect(new Set(await Promise.all(wanted))).toEqual(new Set([undefined]));
    }
    expect(server.requests.keySet).toBe(1 + 3);
  });

  it("returns a known key without waiting for a refresh, however late it is", async () => {
    await openLoaded();
    void hang(server);
    skipTime(hourMs);
    expect(await keySet.key(first)).toBeDefined();
    expect(server.requests.keySet).toBe(1);
    await passTime(1000, { waiting: false });
    expect(await keySet.key(first)).toBeDefined();
    expect(fetches).toBe(2);
  });

  it("returns known keys while a refresh hangs", async () => {
    await openLoaded();
    skipTime(30_000);
    const release = hang(server);
    const waiting = keySet.key(second);
    skipTime(30_000);
    expect(await keySet.key(first)).toBeDefined();
    const alsoWaiting = keySet.key(second);
    expect(fetches).toBe(2);
    (await release)(secondDocument);
    server.answer = answerWith(secondDocument);
    expect(await waiting).toBeDefined();
    expect(await alsoWaiting).toBeDefined();
    expect(await keySet.key(first)).toBeUndefined();
  });

  it("drops revoked keys if the document has none left, and reports it", async () => {
    await openLoaded();
    server.answer = answerWith('{"keys":[]}');
    await passTime(5 * minuteMs);
    expect(await keySet.key(first)).toBeUndefined();
    expect(messages()).toEqual(["the key set contains no key that can verify access tokens"]);
  });

  it("stops when it is closed", async () => {
    await openLoaded();
    void hang(server);
    skipTime(30_000);
    const waiting = keySet.key(second);
    keySet.close();
    expect(await waiting).toBeUndefined();
    await passTime(hourMs);
    expect(vi.getTimerCount()).toBe(0);
    expect(errors).toEqual([]);
  });
});

describe("an outage of the key server", () => {
  it("is bridged with the last valid set for 24 hours", async () => {
    await openLoaded();
    server.answer = answerWith("", 500);
    await passTime(24 * hourMs - 1);
    expect(await keySet.key(first)).toBeDefined();
    expect(keySet.generation()).toBe(1);
    skipTime(1);
    expect(keySet.generation()).toBe(0);
    expect((await refusal(keySet.key(first))).code).toBe("SERVICE_UNAVAILABLE");
  });

  it("ends with the first valid answer; requests are sent every 30 seconds", async () => {
    await openLoaded();
    server.answer = answerWith("", 500);
    await passTime(5 * minuteMs);
    await passTime(29_999);
    expect(server.requests.keySet).toBe(2);
    server.answer = answerWith(secondDocument);
    await passTime(1);
    expect(server.requests.keySet).toBe(3);
    expect(await keySet.key(second)).toBeDefined();
  });

  it("can end after the 24 hours too", async () => {
    await openLoaded();
    skipTime(24 * hourMs);
    expect(await keySet.key(first)).toBeDefined();
    expect(keySet.generation()).toBe(1);
  });

  it("causes one request in 30 seconds for any number of unknown keys", async () => {
    await openLoaded();
    server.answer = answerWith("", 500);
    for (let seconds = 0; seconds < 90; seconds += 1) {
      skipTime(1000);
      const wanted = Array.from({ length: 20 }, (_, n) => keySet.key({ alg: "ES256", kid: `${seconds} ${n}` }));
      expect(new Set(await Promise.all(wanted))).toEqual(new Set([undefined]));
      expect(await keySet.key(first)).toBeDefined();
    }
    expect(server.requests.keySet).toBe(1 + 3);
    expect(errors).toHaveLength(3);
  });

  it("at the start leaves no keys, and causes a request every five seconds", async () => {
    server.answer = answerWith("", 503);
    open();
    const error = await refusal(keySet.key(first));
    expect(error).toMatchObject({ code: "SERVICE_UNAVAILABLE", headers: { "Retry-After": "5" } });
    skipTime(4999);
    await refusal(keySet.key(first));
    expect(server.requests.keySet).toBe(1);
    server.answer = answerWith(firstDocument);
    skipTime(1);
    expect(await keySet.key(first)).toBeDefined();
    expect(server.requests.keySet).toBe(2);
  });

  it("does not stop refreshes if the clock is set back", async () => {
    await openLoaded();
    server.answer = answerWith(secondDocument);
    await passTime(-hourMs);
    await vi.waitFor(async () => expect(await keySet.key(second)).toBeDefined(), patience);
  });
});

describe("an answer that is not a key set", () => {
  it.each<[string, KeyServer["answer"]]>([
    ["another status", answerWith(secondDocument, 203)],
    ["no body", answerWith("", 204)],
    ["HTML", answerWith("<html></html>")],
    ["another JSON document", answerWith('{"issuer":"x"}')],
    ["more than 256 KiB", answerWith(secondDocument.padStart(256 * 1024 + 1))],
    ["a redirect", (_request, response) => response.writeHead(302, { location: "/other", connection: "close" }).end()],
    ["a broken connection", (request) => request.socket.destroy()],
  ])("does not change the keys: %s", async (_name, answer) => {
    await openLoaded();
    server.answer = answer;
    await passTime(5 * minuteMs);
    expect(await keySet.key(first)).toBeDefined();
    expect(keySet.generation()).toBe(1);
    expect(server.requests).toEqual({ keySet: 2, elsewhere: 0 });
    expect(errors).toHaveLength(1);
  });

  it("is awaited only up to the timeout", async () => {
    void hang(server);
    open({ timeoutMs: 20 });
    expect((await refusal(keySet.key(first))).code).toBe("SERVICE_UNAVAILABLE");
    expect(messages()).toEqual([`cannot load the key set at ${server.url}`]);
  });
});

describe("the URL of a remote key set", () => {
  const neverFetch = () => Promise.reject(new Error("not fetched"));

  it.each(["https://id.example.org/keys", "http://localhost:1/k", "http://127.1.2.3/k", "http://[::1]:1/k"])(
    "can be %s",
    (url) => {
      open({ url, fetch: neverFetch });
    },
  );

  it.each([
    "http://id.example.org/keys",
    "http://127.0.0.1.example.org/keys",
    "http://localhost.example.org/keys",
    "https://user:secret@id.example.org/keys",
    "file:///etc/keys",
    "/keys",
    "",
  ])("cannot be %j", (url) => {
    open();
    expect(() => openRemoteKeySet({ url, fetch: neverFetch })).toThrow("https");
  });
});

describe("a verifier with a remote key set", () => {
  it("rejects the tokens of a withdrawn key, including cached ones", async () => {
    await openLoaded();
    const verify = createTokenVerifier({ ...defaults(), keySet, now: Date.now });
    const token = `Bearer ${signToken(first, goodClaims({ exp: startMs / 1000 + 3600 }))}`;
    await verify(token);
    server.answer = answerWith(secondDocument);
    await passTime(5 * minuteMs);
    expect((await refusal(verify(token))).code).toBe("INVALID_ACCESS_TOKEN");
  });

  it("rejects cached tokens as soon as a refresh for another token shows that their key was withdrawn", async () => {
    await openLoaded();
    const verify = createTokenVerifier({ ...defaults(), keySet, now: Date.now });
    const token = `Bearer ${signToken(first)}`;
    await verify(token);
    server.answer = answerWith(secondDocument);
    skipTime(30_000);
    expect(await verify(`Bearer ${signToken(second)}`)).toBeDefined();
    expect((await refusal(verify(token))).detail).toBe("The access token names a signing key that is not known.");
  });

  it("without keys answers 401 to a malformed token and 503 to any other", async () => {
    server.answer = answerWith("", 500);
    open();
    const verify = createTokenVerifier({ ...defaults(), keySet, now: Date.now });
    expect((await refusal(verify("Bearer x"))).code).toBe("INVALID_ACCESS_TOKEN");
    expect((await refusal(verify(`Bearer ${signToken(first)}`))).code).toBe("SERVICE_UNAVAILABLE");
  });

  it("rejects cached tokens when an outage takes too long", async () => {
    await openLoaded();
    const verify = createTokenVerifier({ ...defaults(), keySet, now: Date.now });
    const token = `Bearer ${signToken(first, goodClaims({ exp: startMs / 1000 + 3 * 86_400 }))}`;
    await verify(token);
    server.answer = answerWith("", 500);
    skipTime(24 * hourMs);
    expect((await refusal(verify(token))).code).toBe("SERVICE_UNAVAILABLE");
  });
});

function open(changes: { url?: string; timeoutMs?: number; fetch?: typeof globalThis.fetch } = {}): void {
  const onError = (error: Error) => errors.push(error);
  keySet = openRemoteKeySet({ url: server.url, timeoutMs: 30_000, onError, fetch: countedFetch, ...changes });
}

async function openLoaded(): Promise<void> {
  open();
  await keySet.key(first);
}

const countedFetch: typeof globalThis.fetch = (...request) => {
  fetches += 1;
  return fetch(...request);
};

/** Advances the clock without running timers. */
function skipTime(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

/** Advances the clock, runs the timers, and waits for a refresh that they started. */
async function passTime(ms: number, { waiting = true } = {}): Promise<void> {
  const before = fetches;
  skipTime(ms - 1000);
  vi.advanceTimersByTime(1000);
  if (waiting && fetches > before) await keySet.key(unknown).catch(() => undefined);
}

/**
 * Lets the server hang at the next request. Resolves with the function that answers it once the request has arrived.
 */
function hang(on: KeyServer): Promise<(document: string) => void> {
  return new Promise((resolve) => {
    on.answer = (request, response) => resolve((document) => answerWith(document)(request, response));
  });
}

function messages(): string[] {
  return errors.map(({ message }) => message);
}
