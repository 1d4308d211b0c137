import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type DevelopmentIssuer, openDevelopmentIssuer } from "../../src/auth/development-issuer.js";
import { createTokenVerifier, defaultClaimNames, defaultTokenTypes } from "../../src/auth/token-verifier.js";
import { makeKey, refusal, startMs, startSeconds, tenantId } from "./token-fixtures.js";

const keyFile = "development-key.json";
const request = { tenantId, client: "demo", scopes: ["patients:write", "siau:write"], expiresInSeconds: 600 };
const now = () => startMs;

let folder: string;
let dataDir: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "cupo-issuer-"));
  dataDir = join(folder, "deep", "data");
});

afterEach(() => rm(folder, { recursive: true }));

describe("the development issuer", () => {
  it("signs tokens according to RFC 9068", async () => {
    const issuer = await openDevelopmentIssuer({ dataDir, now });
    const token = await issuer.sign(request);
    expect(decodeProtectedHeader(token)).toEqual({ alg: "ES256", typ: "at+jwt", kid: expect.any(String) });
    expect(decodeJwt(token)).toEqual({
      iss: issuer.issuer,
      aud: issuer.audience,
      sub: "demo",
      client_id: "demo",
      jti: expect.any(String),
      iat: startSeconds,
      exp: startSeconds + 600,
      tenant_id: tenantId,
      scope: "patients:write siau:write",
    });
  });

  it("signs tokens that are accepted", async () => {
    const issuer = await openDevelopmentIssuer({ dataDir, now });
    const ids = { organizationId: crypto.randomUUID(), companyId: crypto.randomUUID() };
    const principal = await verifierOf(issuer)(`Bearer ${await issuer.sign({ ...request, ...ids })}`);
    expect(principal).toMatchObject({ clientId: "demo", tenantId, ...ids, scopes: new Set(request.scopes) });
  });

  it("gives each token its own jti", async () => {
    const issuer = await openDevelopmentIssuer({ dataDir, now });
    const [a, b] = await Promise.all([issuer.sign(request), issuer.sign(request)]);
    expect(decodeJwt(a).jti).not.toBe(decodeJwt(b).jti);
  });

  it("keeps its key pair after a restart", async () => {
    const before = await openDevelopmentIssuer({ dataDir, now });
    const after = await openDevelopmentIssuer({ dataDir, now });
    expect(await verifierOf(after)(`Bearer ${await before.sign(request)}`)).toBeDefined();
  });

  it("uses the same key pair as others that start at the same time", async () => {
    const issuers = await Promise.all(Array.from({ length: 8 }, () => openDevelopmentIssuer({ dataDir, now })));
    const tokens = await Promise.all(issuers.map((issuer) => issuer.sign(request)));
    for (const issuer of issuers) {
      const verify = verifierOf(issuer);
      for (const token of tokens) expect(await verify(`Bearer ${token}`)).toBeDefined();
    }
    expect(await readdir(dataDir)).toEqual([keyFile]);
  });

  it("makes its key file readable by its owner only", async () => {
    await openDevelopmentIssuer({ dataDir, now });
    expect((await stat(join(dataDir, keyFile))).mode & 0o777).toBe(0o600);
  });

  it("publishes no private key", async () => {
    const { keySet } = await openDevelopmentIssuer({ dataDir, now });
    const kid = decodeProtectedHeader(await (await openDevelopmentIssuer({ dataDir, now })).sign(request)).kid;
    expect(await keySet.key({ alg: "ES256", kid: kid ?? "" })).toMatchObject({ type: "public" });
  });

  it("rejects the tokens of another data folder", async () => {
    const stranger = await openDevelopmentIssuer({ dataDir: join(folder, "other"), now });
    const verify = verifierOf(await openDevelopmentIssuer({ dataDir, now }));
    expect((await refusal(verify(`Bearer ${await stranger.sign(request)}`))).code).toBe("INVALID_ACCESS_TOKEN");
  });

  const publicKey = JSON.stringify(makeKey("ES256", "public").publicJwk);

  it.each(["", "{}", "null", '{"kty":"oct","k":"c2VjcmV0"}', '{"kty":"EC","crv":"P-256"}', publicKey])(
    "reports a key file with %j and does not change it",
    async (content) => {
      const path = join(folder, keyFile);
      await writeFile(path, content);
      await expect(openDevelopmentIssuer({ dataDir: folder, now })).rejects.toThrow(path);
      expect(await readFile(path, "utf8")).toBe(content);
    },
  );
});

function verifierOf({ issuer, audience, keySet }: DevelopmentIssuer) {
  return createTokenVerifier({
    issuer,
    audience,
    keySet,
    now,
    tokenTypes: defaultTokenTypes,
    claims: defaultClaimNames,
  });
}
