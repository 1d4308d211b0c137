import { createHmac, createPublicKey, sign } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  encode,
  goodClaims,
  issuer,
  makeKey,
  refusal,
  signParts,
  signToken,
  startSeconds,
  type TestKey,
  verifierFor,
} from "./token-fixtures.js";

const es256 = makeKey("ES256", "ec");
const rs256 = makeKey("RS256", "rsa");
const ps256 = makeKey("PS256", "pss");
const short = makeKey("RS256", "short", 1024);
const stranger = makeKey("ES256", "ec");
const verify = await verifierFor([es256, rs256, ps256, short]);

const sentences = {
  malformed: "The access token is malformed",
  type: "The token is not an access token of an accepted type",
  algorithm: "The access token is signed with an algorithm that is not accepted",
  unknownKey: "The access token names a signing key that is not known",
  signature: "The signature of the access token is invalid",
  issuer: "The access token comes from another issuer",
  audience: "The access token is meant for another audience",
  expired: "The access token has expired",
  notYet: "The access token is not valid yet",
};

type Case = readonly [name: string, header: string, sentence: string];

const good = signToken(es256);
const [goodHeader = "", goodPayload = "", goodSignature = ""] = good.split(".");
const otherPayload = encode(JSON.stringify(goodClaims({ client_id: "admin" })));

const shape: Case[] = [
  ["nothing after the scheme", "Bearer", sentences.malformed],
  ["a space after the scheme", "Bearer ", sentences.malformed],
  ["a tab before the token", `Bearer \t${good}`, sentences.malformed],
  ["a trailing newline", `Bearer ${good}\n`, sentences.malformed],
  ["a trailing space", `Bearer ${good} `, sentences.malformed],
  ["padding", `Bearer ${good}=`, sentences.malformed],
  ["two tokens", `Bearer ${good} ${good}`, sentences.malformed],
  ["two values joined by a comma", `Bearer ${good}, Bearer ${good}`, sentences.malformed],
  ["quotes", `Bearer "${good}"`, sentences.malformed],
  ["one dot", `Bearer ${goodHeader}.${goodPayload}`, sentences.malformed],
  ["three dots", `Bearer ${good}.${goodSignature}`, sentences.malformed],
  [
    "four dots, as in a JWE",
    `Bearer ${goodHeader}.${encode("k")}.${encode("i")}.${goodPayload}.${goodSignature}`,
    sentences.malformed,
  ],
  ["an empty payload", `Bearer ${goodHeader}..${goodSignature}`, sentences.malformed],
  ["an empty signature", `Bearer ${goodHeader}.${goodPayload}.`, sentences.malformed],
  [
    "the standard base64 alphabet",
    `Bearer ${goodHeader}.${goodPayload}.${goodSignature.slice(0, -2)}+/`,
    sentences.malformed,
  ],
  ["more than 8 KiB", bearer(signToken(es256, goodClaims({ filler: "x".repeat(8192) }))), sentences.malformed],
  ["another base64url form of the signature", `Bearer ${respelled(good)}`, sentences.malformed],
  [
    "another base64url form of the payload",
    bearer(signParts(es256, goodHeader, respelled(threefold(goodClaims())))),
    sentences.malformed,
  ],
  [
    "another base64url form of the header",
    bearer(signParts(es256, respelled(threefold({ typ: "at+jwt", alg: "ES256", kid: "ec" })), goodPayload)),
    sentences.malformed,
  ],
];

const header: Case[] = [
  ["a header that is not JSON", bearer(signParts(es256, encode("{"), goodPayload)), sentences.malformed],
  ["a header that is an array", bearer(signParts(es256, encode("[]"), goodPayload)), sentences.malformed],
  ["a header that is null", bearer(signParts(es256, encode("null"), goodPayload)), sentences.malformed],
  [
    "a header with a byte order mark",
    bearer(signParts(es256, encode(`\ufeff${decode(goodHeader)}`), goodPayload)),
    sentences.malformed,
  ],
  [
    "a header that is not UTF-8",
    bearer(signParts(es256, encode(latin1('{"typ":"at+jwt","alg":"ES256","kid":"\xe9"}')), goodPayload)),
    sentences.malformed,
  ],
  [
    "two algorithms",
    bearer(signParts(es256, encode('{"typ":"at+jwt","alg":"none","alg":"ES256","kid":"ec"}'), goodPayload)),
    sentences.malformed,
  ],
  ["crit", forgedHeader({ crit: ["exp"] }), sentences.malformed],
  ["crit null", forgedHeader({ crit: null }), sentences.malformed],
  ["an unencoded payload (RFC 7797)", forgedHeader({ b64: false, crit: ["b64"] }), sentences.malformed],
  ["no kid", forgedHeader({ kid: undefined }), sentences.malformed],
  ["an empty kid", forgedHeader({ kid: "" }), sentences.malformed],
  ["an array as kid", forgedHeader({ kid: ["ec"] }), sentences.malformed],
  ["a number as kid", forgedHeader({ kid: 1 }), sentences.malformed],
  ["an unknown kid", forgedHeader({ kid: "ec2" }), sentences.unknownKey],
  ["kid __proto__", forgedHeader({ kid: "__proto__" }), sentences.unknownKey],
  ["no typ", forgedHeader({ typ: undefined }), sentences.type],
  ["typ JWT", forgedHeader({ typ: "JWT" }), sentences.type],
  ["typ of a logout token", forgedHeader({ typ: "logout+jwt" }), sentences.type],
  ["typ with another top-level type", forgedHeader({ typ: "text/at+jwt" }), sentences.type],
  ["typ with two slashes", forgedHeader({ typ: "application/x/at+jwt" }), sentences.type],
  ["an array as typ", forgedHeader({ typ: ["at+jwt"] }), sentences.type],
  ["no alg", forgedHeader({ alg: undefined }), sentences.algorithm],
  ["an array as alg", forgedHeader({ alg: ["ES256"] }), sentences.algorithm],
  ["lower-case alg", forgedHeader({ alg: "es256" }), sentences.algorithm],
  ["alg none", forgedHeader({ alg: "none" }), sentences.algorithm],
  ["alg None", forgedHeader({ alg: "None" }), sentences.algorithm],
  ["HS256 with a public key as the secret", hmacToken(rs256), sentences.algorithm],
  ["ES384", forgedHeader({ alg: "ES384" }), sentences.algorithm],
  ["RS512", bearer(signToken(rs256, goodClaims(), { alg: "RS512" })), sentences.algorithm],
];

const signature: Case[] = [
  ["another key under a known kid", bearer(signToken(stranger)), sentences.signature],
  ["another payload", `Bearer ${goodHeader}.${otherPayload}.${goodSignature}`, sentences.signature],
  [
    "another token's signature",
    `Bearer ${goodHeader}.${goodPayload}.${signToken(rs256).split(".")[2]}`,
    sentences.signature,
  ],
  ["a signature of zeros", `Bearer ${goodHeader}.${goodPayload}.${encode(Buffer.alloc(64))}`, sentences.signature],
  ["a signature in DER", `Bearer ${goodHeader}.${goodPayload}.${derSignature()}`, sentences.signature],
  ["a key in the header", bearer(signToken(stranger, goodClaims(), { jwk: stranger.publicJwk })), sentences.signature],
  [
    "a key set URL in the header",
    bearer(signToken(stranger, goodClaims(), { jku: "http://127.0.0.1/" })),
    sentences.signature,
  ],
  [
    "the EC key named with an RSA algorithm",
    bearer(signToken(rs256, goodClaims(), { kid: "ec" })),
    sentences.unknownKey,
  ],
  ["the RS256 key named with PS256", bearer(signToken({ ...rs256, alg: "PS256" })), sentences.unknownKey],
  ["the PS256 key named with RS256", bearer(signToken({ ...ps256, alg: "RS256" })), sentences.unknownKey],
  ["an RSA key of 1024 bits", bearer(signToken(short)), sentences.unknownKey],
];

const claims: Case[] = [
  ["a payload that is not JSON", bearer(signParts(es256, goodHeader, encode("{"))), sentences.malformed],
  ["a payload that is a string", bearer(signParts(es256, goodHeader, encode('"a"'))), sentences.malformed],
  ["a nested token", bearer(signParts(es256, goodHeader, encode(good))), sentences.malformed],
  ["two tenants", forgedPayload((text) => text.replace("{", '{"tenant_id":"0",')), sentences.malformed],
  [
    "two tenants, one spelled with an escape",
    forgedPayload((text) => text.replace("{", '{"\\u0074enant_id":"0",')),
    sentences.malformed,
  ],
  ["another issuer", forgedClaims({ iss: `${issuer}/` }), sentences.issuer],
  ["an array as iss", forgedClaims({ iss: [issuer] }), sentences.issuer],
  ["no iss", forgedClaims({ iss: undefined }), sentences.issuer],
  ["another audience", forgedClaims({ aud: "https://other.example.org" }), sentences.audience],
  ["other audiences", forgedClaims({ aud: ["a", "b"] }), sentences.audience],
  ["no audience in the array", forgedClaims({ aud: [] }), sentences.audience],
  ["expired", forgedClaims({ exp: startSeconds - 60 }), sentences.expired],
  ["expired just now", forgedClaims({ exp: startSeconds }), sentences.expired],
  ["expired three seconds ago", forgedClaims({ exp: startSeconds - 3 }), sentences.expired],
  ["nbf ahead", forgedClaims({ nbf: startSeconds + 60 }), sentences.notYet],
  ["iat ahead", forgedClaims({ iat: startSeconds + 60 }), sentences.notYet],
  ["iat ahead by more than clocks may differ", forgedClaims({ iat: startSeconds + 5.001 }), sentences.notYet],
  ["exp beyond all numbers", forgedPayload((text) => text.replace(/"exp":\d+/, '"exp":1e400')), claim("exp")],
];

const wrongTypes: Record<string, readonly unknown[]> = {
  aud: [undefined, null, 1, {}, ["https://api.example.org", 1]],
  sub: [undefined, null, "", 1, ["booking-bot"]],
  jti: [undefined, null, "", 1, {}],
  exp: [undefined, null, "1900000000", -1, 1e13, [1_900_000_000], true],
  iat: [undefined, null, "0", -1, {}],
  nbf: [null, "0", -1, false],
  client_id: [undefined, null, "", 1, ["booking-bot"], "a\u0000b", "a\nb", "ñ", "x".repeat(256)],
  tenant_id: [
    undefined,
    null,
    "",
    1,
    "clinic",
    ["7d0f3f5e-6f0c-4d6b-9a53-0c2b6a0f1e11"],
    "7d0f3f5e6f0c4d6b9a530c2b6a0f1e11",
  ],
  organization_id: [null, "", 1, "x", "7d0f3f5e-6f0c-4d6b-9a53-0c2b6a0f1e11\n"],
  company_id: [null, "", 1, "x", {}],
  scope: [undefined, null, 1, ["patients:write"], {}, " ", "a  b", " a", "a\tb", 'a"', "ñ"],
};

for (const [name, values] of Object.entries(wrongTypes)) {
  for (const value of values) {
    const shown = JSON.stringify(value)?.slice(0, 60) ?? "missing";
    claims.push([`${name} ${shown}`, forgedClaims({ [name]: value }), claim(name)]);
  }
}

describe("forged tokens", () => {
  it.each([...shape, ...header, ...signature, ...claims])(
    "are rejected: %s",
    async (_name, authorization, sentence) => {
      const error = await refusal(verify(authorization));
      expect(error.code).toBe("INVALID_ACCESS_TOKEN");
      expect(error.detail).toBe(`${sentence}.`);
      expect(error.headers).toEqual({
        "WWW-Authenticate": `Bearer realm="cupo", error="invalid_token", error_description="${sentence}"`,
      });
    },
  );

  it.each([
    ["no header", null],
    ["an empty header", ""],
    ["another scheme", "Basic Y3VwbzpjdXBv"],
    ["a scheme that starts with Bearer", `BearerX ${good}`],
    ["a token without a scheme", good],
  ])("missing credentials are rejected with a challenge: %s", async (_name, authorization) => {
    const error = await refusal(verify(authorization));
    expect(error.code).toBe("INVALID_ACCESS_TOKEN");
    expect(error.headers).toEqual({ "WWW-Authenticate": 'Bearer realm="cupo"' });
  });

  it("the valid token that the forgeries vary is accepted", async () => {
    expect(await verify(`Bearer ${good}`)).toMatchObject({ clientId: "booking-bot" });
    expect(await verify(bearer(signParts(es256, goodHeader, threefold(goodClaims()))))).toBeDefined();
  });
});

function claim(name: string): string {
  return `The claim ${name} of the access token is missing or malformed`;
}

function bearer(token: string): string {
  return `Bearer ${token}`;
}

function forgedHeader(changes: Record<string, unknown>): string {
  return bearer(signToken(es256, goodClaims(), changes));
}

function forgedClaims(changes: Record<string, unknown>): string {
  return bearer(signToken(es256, goodClaims(changes)));
}

function forgedPayload(change: (text: string) => string): string {
  return bearer(signParts(es256, goodHeader, encode(change(JSON.stringify(goodClaims())))));
}

function hmacToken(key: TestKey): string {
  const secret = createPublicKey(key.privateKey).export({ format: "pem", type: "spki" });
  const signed = `${encode(JSON.stringify({ typ: "at+jwt", alg: "HS256", kid: key.kid }))}.${goodPayload}`;
  return bearer(`${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`);
}

function derSignature(): string {
  return encode(sign("sha256", Buffer.from(`${goodHeader}.${goodPayload}`), es256.privateKey));
}

/** Returns JSON in base64url whose last character has unused bits. */
function threefold(value: object): string {
  const text = JSON.stringify(value);
  return encode(text.padEnd(text.length + ((4 - (text.length % 3)) % 3)));
}

/** Returns the same bytes with the unused bits of the last character set. */
function respelled(part: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return part.slice(0, -1) + alphabet[alphabet.indexOf(part.slice(-1)) + 1];
}

function decode(part: string): string {
  return Buffer.from(part, "base64url").toString();
}

function latin1(text: string): Buffer {
  return Buffer.from(text, "latin1");
}
