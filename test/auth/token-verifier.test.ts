import { describe, expect, it } from "vitest";
import { fixedKeySet, type KeySet } from "../../src/auth/key-set.js";
import { createTokenVerifier } from "../../src/auth/token-verifier.js";
import { usableKeys } from "../../src/auth/usable-keys.js";
import { CupoError } from "../../src/errors.js";
import {
  audience,
  defaults,
  goodClaims,
  issuer,
  keySetDocument,
  makeKey,
  refusal,
  signToken,
  startMs,
  startSeconds,
  tenantId,
  verifierFor,
} from "./token-fixtures.js";

const es256 = makeKey("ES256", "ec");
const rs256 = makeKey("RS256", "rsa");
const ps256 = makeKey("PS256", "pss");
const verify = await verifierFor([es256, rs256, ps256]);
const other = "11111111-2222-3333-4444-555555555555";

describe("a valid access token", () => {
  it.each([es256, rs256, ps256])("is accepted with $alg", async (key) => {
    expect(await verify(`Bearer ${signToken(key)}`)).toEqual({
      id: `${issuer} booking-bot`,
      issuer,
      clientId: "booking-bot",
      tenantId,
      organizationId: undefined,
      companyId: undefined,
      scopes: new Set(["patients:write", "waitlist:write"]),
    });
  });

  it.each(["bearer ", "BEARER ", "Bearer    "])("is accepted after %j", async (prefix) => {
    expect(await verify(`${prefix}${signToken(es256)}`)).toBeDefined();
  });

  it.each(["AT+JWT", "application/at+jwt", "Application/AT+jwt"])("can have the type %s", async (typ) => {
    expect(await verify(`Bearer ${signToken(es256, goodClaims(), { typ })}`)).toBeDefined();
  });

  it("can have unnecessary headers, which are ignored", async () => {
    const header = { jwk: rs256.publicJwk, x5t: "abc", cty: "x" };
    expect(await verify(`Bearer ${signToken(es256, goodClaims(), header)}`)).toBeDefined();
  });

  it("can have several audiences, be long, and have fractional times", async () => {
    const claims = goodClaims({ aud: ["x", audience], exp: startSeconds + 0.5, filler: "x".repeat(5000) });
    expect(await verify(`Bearer ${signToken(es256, claims)}`)).toBeDefined();
  });

  it("can have times from 1970 through 9999", async () => {
    const claims = goodClaims({ iat: 0, nbf: 0, exp: 253_402_300_799 });
    expect(await verify(`Bearer ${signToken(es256, claims)}`)).toBeDefined();
  });

  it("can have 8 KiB, and no character more", async () => {
    const signed = ["a", "aa"].flatMap((x5t) =>
      Array.from({ length: 40 }, (_, i) => signToken(es256, goodClaims({ filler: "x".repeat(5740 + i) }), { x5t })),
    );
    const [longest, tooLong] = [8192, 8193].map((length) => signed.find((token) => token.length === length));
    expect(await verify(`Bearer ${longest}`)).toBeDefined();
    expect((await refusal(verify(`Bearer ${tooLong}`))).code).toBe("INVALID_ACCESS_TOKEN");
    expect(tooLong).toHaveLength(8193);
  });

  it("can contain an organization and a company, which are returned in lower case", async () => {
    const claims = goodClaims({
      tenant_id: tenantId.toUpperCase(),
      organization_id: other,
      company_id: other.toUpperCase(),
    });
    const principal = await verify(`Bearer ${signToken(es256, claims)}`);
    expect(principal).toMatchObject({ tenantId, organizationId: other, companyId: other });
  });

  it("can have no scopes", async () => {
    expect((await verify(`Bearer ${signToken(es256, goodClaims({ scope: "" }))}`)).scopes.size).toBe(0);
  });

  it("identifies its client", async () => {
    const ids = ["a", "a b", "b"].map((client_id) => verify(`Bearer ${signToken(es256, goodClaims({ client_id }))}`));
    expect((await Promise.all(ids)).map(({ id }) => id)).toEqual([`${issuer} a`, `${issuer} a b`, `${issuer} b`]);
  });
});

describe("the options of a verifier", () => {
  const claims = { client: "azp", tenant: "https://cupo.example/tenant", scope: "scp" };
  const renamed = { azp: "bot", "https://cupo.example/tenant": other, scp: ["patients:write", "siau:write"] };

  it("can rename claims, and accept an array in a renamed scope claim", async () => {
    const token = signToken(es256, goodClaims(renamed));
    const principal = await (await verifierFor([es256], { claims }))(`Bearer ${token}`);
    expect(principal).toMatchObject({ clientId: "bot", tenantId: other, scopes: new Set(renamed.scp) });
  });

  it.each([[["patients:write", 1]], [["a b"]], [[""]]])("reject %j as scopes", async (scp) => {
    const token = signToken(es256, goodClaims({ ...renamed, scp }));
    const error = await refusal((await verifierFor([es256], { claims }))(`Bearer ${token}`));
    expect(error.detail).toBe("The claim scp of the access token is missing or malformed.");
  });

  it("can add token types", async () => {
    const lenient = await verifierFor([es256], { tokenTypes: ["application/at+jwt", "JWT"] });
    expect(await lenient(`Bearer ${signToken(es256, goodClaims(), { typ: "JWT" })}`)).toBeDefined();
    expect(await lenient(`Bearer ${signToken(es256)}`)).toBeDefined();
  });

  it.each([
    { issuer: "" },
    { issuer: "two words" },
    { claims: { ...claims, scope: "" } },
    { claims: { ...claims, client: 'a"b' } },
  ])("are rejected if they are invalid: %j", async (changes) => {
    await expect(verifierFor([es256], changes)).rejects.toThrow(Error);
  });
});

describe("the clock", () => {
  const times = goodClaims({ nbf: startSeconds + 100, exp: startSeconds + 200 });
  const token = `Bearer ${signToken(es256, times)}`;

  it.each([
    [94_999, "The access token is not valid yet."],
    [95_000, undefined],
    [199_999, undefined],
    [200_000, "The access token has expired."],
  ])("after %d ms applies 5 s of tolerance to nbf and none to exp: %s", async (elapsedMs, detail) => {
    const outcome = (await verifierFor([es256], { now: () => startMs + elapsedMs }))(token);
    if (detail === undefined) expect(await outcome).toBeDefined();
    else expect((await refusal(outcome)).detail).toBe(detail);
  });

  it("uses iat instead of nbf if it is later", async () => {
    const iat = `Bearer ${signToken(es256, goodClaims({ nbf: startSeconds - 60 }))}`;
    const early = await verifierFor([es256], { now: () => startMs - 5001 });
    const inTime = await verifierFor([es256], { now: () => startMs - 5000 });
    expect((await refusal(early(iat))).detail).toBe("The access token is not valid yet.");
    expect(await inTime(iat)).toBeDefined();
  });
});

describe("the cache of verified tokens", () => {
  it("avoids a second verification", async () => {
    const { keySet, asked } = await countingKeySet();
    const remembering = createTokenVerifier({ ...defaults(), keySet });
    const token = `Bearer ${signToken(es256)}`;
    const principal = await remembering(token);
    expect(await remembering(token)).toEqual(principal);
    expect(asked()).toBe(1);
  });

  it("shares the verification between concurrent calls", async () => {
    const { keySet, asked } = await countingKeySet();
    const sharing = createTokenVerifier({ ...defaults(), keySet });
    const token = `Bearer ${signToken(es256)}`;
    await Promise.all(Array.from({ length: 20 }, () => sharing(token)));
    expect(asked()).toBe(1);
  });

  it("does not cache failures", async () => {
    const { keySet, asked } = await countingKeySet();
    const forgetting = createTokenVerifier({ ...defaults(), keySet });
    const token = `Bearer ${signToken(makeKey("ES256", "ec"))}`;
    await Promise.all([refusal(forgetting(token)), refusal(forgetting(token))]);
    await refusal(forgetting(token));
    expect(asked()).toBe(2);
    const expired = `Bearer ${signToken(es256, goodClaims({ exp: 1 }))}`;
    await refusal(forgetting(expired));
    await refusal(forgetting(expired));
    expect(asked()).toBe(4);
  });

  it("still checks the time on each call", async () => {
    let nowMs = startMs;
    const { keySet, asked } = await countingKeySet();
    const ticking = createTokenVerifier({ ...defaults(), keySet, now: () => nowMs });
    const token = `Bearer ${signToken(es256)}`;
    await ticking(token);
    nowMs = startMs + 299_999;
    expect(await ticking(token)).toBeDefined();
    nowMs = startMs + 300_000;
    expect((await refusal(ticking(token))).detail).toBe("The access token has expired.");
    nowMs = startMs - 5001;
    expect((await refusal(ticking(token))).detail).toBe("The access token is not valid yet.");
    expect(asked()).toBe(1);
  });

  it("is cleared when the keys change", async () => {
    let keySet = await keySetOf(1, es256.publicJwk);
    const following = createTokenVerifier({ ...defaults(), keySet: current(() => keySet) });
    const token = `Bearer ${signToken(es256)}`;
    await following(token);
    keySet = await keySetOf(2, rs256.publicJwk);
    expect((await refusal(following(token))).detail).toBe("The access token names a signing key that is not known.");
  });

  it("is cleared even if the keys changed for the token itself", async () => {
    const loaded = await keySetOf(1, es256.publicJwk);
    let keySet = await keySetOf(0);
    const lapsing = current(() => keySet);
    lapsing.key = (reference) => {
      keySet = loaded;
      return loaded.key(reference);
    };
    const following = createTokenVerifier({ ...defaults(), keySet: lapsing });
    const token = `Bearer ${signToken(es256)}`;
    await following(token);
    keySet = await keySetOf(0);
    lapsing.key = () => Promise.reject(new CupoError("SERVICE_UNAVAILABLE"));
    expect((await refusal(following(token))).code).toBe("SERVICE_UNAVAILABLE");
  });

  it("does not cache a token that was verified while the keys changed", async () => {
    let keySet = await keySetOf(1, es256.publicJwk);
    const changing = current(() => keySet);
    changing.key = async (reference) => {
      const key = await keySet.key(reference);
      keySet = await keySetOf(2, rs256.publicJwk);
      return key;
    };
    const following = createTokenVerifier({ ...defaults(), keySet: changing });
    const token = `Bearer ${signToken(es256)}`;
    await following(token);
    expect((await refusal(following(token))).code).toBe("INVALID_ACCESS_TOKEN");
  });
});

async function countingKeySet(): Promise<{ keySet: KeySet; asked(): number }> {
  const fixed = await keySetOf(1, es256.publicJwk);
  let asked = 0;
  const key: KeySet["key"] = (reference) => {
    asked += 1;
    return fixed.key(reference);
  };
  return { keySet: { ...fixed, key }, asked: () => asked };
}

async function keySetOf(generation: number, ...jwks: object[]): Promise<KeySet> {
  return { ...fixedKeySet(await usableKeys(keySetDocument(...jwks))), generation: () => generation };
}

function current(keySet: () => KeySet): KeySet {
  return { key: (reference) => keySet().key(reference), generation: () => keySet().generation(), close() {} };
}
