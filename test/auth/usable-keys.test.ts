import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { type CryptoKey, exportJWK, type JSONWebKeySet } from "jose";
import { describe, expect, it } from "vitest";
import { fixedKeySet, type KeyReference } from "../../src/auth/key-set.js";
import { usableKeys } from "../../src/auth/usable-keys.js";
import { keySetDocument, makeKey } from "./token-fixtures.js";

const ec = makeKey("ES256", "ec").publicJwk;
const rsa = makeKey("RS256", "rsa").publicJwk;
const p384 = named(generateKeyPairSync("ec", { namedCurve: "P-384" }).publicKey);
const ed25519 = named(generateKeyPairSync("ed25519").publicKey);
const privateEc = named(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey);
const privateRsa = named(generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey);

describe("the usable keys of a set", () => {
  it.each([
    ["P-256", ec, "ES256 ec"],
    ["P-256 without an algorithm", without(ec, "alg"), "ES256 ec"],
    ["RSA for RS256", rsa, "RS256 rsa"],
    ["RSA for PS256", { ...rsa, alg: "PS256" }, "PS256 rsa"],
    ["RSA without an algorithm, as RS256", without(rsa, "alg"), "RS256 rsa"],
    ["a key without a use", without(ec, "use"), "ES256 ec"],
    ["a key with the operation verify", { ...ec, key_ops: ["verify"] }, "ES256 ec"],
    ["a key with a certificate and unknown members", { ...rsa, x5c: ["x"], foo: 1 }, "RS256 rsa"],
  ])("include %s", async (_name, jwk, name) => {
    const set = await usableKeys(keySetDocument(jwk));
    expect(namesOf(set)).toEqual([name]);
    expect(await keyOf(set, name)).toMatchObject({ type: "public", usages: ["verify"] });
  });

  it.each([
    ["a symmetric key", { kty: "oct", kid: "x", k: "c2VjcmV0c2VjcmV0", alg: "HS256" }],
    ["a symmetric key that claims ES256", { kty: "oct", kid: "x", k: "c2VjcmV0c2VjcmV0", alg: "ES256" }],
    ["a private EC key", privateEc],
    ["a key whose private part is null", { ...ec, d: null }],
    ["a key whose private part is empty", { ...ec, d: "" }],
    ["a private RSA key", privateRsa],
    ["P-384", p384],
    ["Ed25519", ed25519],
    ["P-256 for another algorithm", { ...ec, alg: "ES384" }],
    ["P-256 whose algorithm is null", { ...ec, alg: null }],
    ["P-256 for an RSA algorithm", { ...ec, alg: "RS256" }],
    ["RSA for an EC algorithm", { ...rsa, alg: "ES256" }],
    ["RSA for encryption", { ...rsa, alg: "RSA-OAEP" }],
    ["RSA of 1024 bits", makeKey("RS256", "x", 1024).publicJwk],
    ["a key for encryption", { ...ec, use: "enc" }],
    ["a key that cannot verify", { ...ec, key_ops: ["sign"] }],
    ["key_ops that is not an array", { ...ec, key_ops: "verify" }],
    ["no kid", without(ec, "kid")],
    ["an empty kid", { ...ec, kid: "" }],
    ["a number as kid", { ...ec, kid: 1 }],
    ["a point off the curve", { ...ec, y: ec["x"] }],
    ["no point", without(ec, "x")],
    ["no modulus", without(rsa, "n")],
    ["nothing but a name", { kid: "x" }],
  ])("exclude %s", async (_name, jwk) => {
    const set = await usableKeys(keySetDocument(jwk, { ...ec, kid: "good" }));
    expect(namesOf(set)).toEqual(["ES256 good"]);
  });

  it("exclude entries that are not objects; a set without keys is valid", async () => {
    expect(await usableKeys('{"keys":[null,1,"a",[]]}')).toEqual({ keys: [] });
    expect(await usableKeys('{"keys":[]}')).toEqual({ keys: [] });
  });

  it("include the first of two keys with the same name", async () => {
    const second = makeKey("ES256", "ec").publicJwk;
    const set = await usableKeys(keySetDocument(ec, second));
    expect(await exported(await keyOf(set, "ES256 ec"))).toMatchObject({ x: ec["x"] });
  });

  it.each(["", "null", "[]", "{}", '{"keys":{}}', '{"keys":[],"keys":[]}', "<html>"])(
    "cannot be read from %j",
    async (document) => {
      await expect(usableKeys(document)).rejects.toThrow(/./);
    },
  );

  it.each(["{}", '{"keys":{}}', '{"keys":null}'])(
    "cannot be read from %j, and the error says why",
    async (document) => {
      await expect(usableKeys(document)).rejects.toThrow("a JSON Web Key Set needs an array of keys");
    },
  );
});

it("a set that never changes rejects a name that two of its keys have", async () => {
  const set = fixedKeySet({ keys: [ec, makeKey("ES256", "ec").publicJwk] });
  await expect(set.key({ alg: "ES256", kid: "ec" })).rejects.toThrow("multiple matching keys");
});

function without(jwk: Record<string, unknown>, member: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(jwk).filter(([name]) => name !== member));
}

function named(key: KeyObject): object {
  return { ...key.export({ format: "jwk" }), kid: "x" };
}

function namesOf({ keys }: JSONWebKeySet): string[] {
  return keys.map(({ alg, kid }) => `${alg} ${kid}`);
}

/** Returns a key of a set by its algorithm and kid, as a verifier does. */
function keyOf(set: JSONWebKeySet, name: string): Promise<CryptoKey | undefined> {
  const [alg = "", kid = ""] = name.split(" ");
  return fixedKeySet(set).key({ alg, kid } as KeyReference);
}

async function exported(key: CryptoKey | undefined): Promise<unknown> {
  if (key === undefined) throw new Error("no key");
  return exportJWK(key);
}
