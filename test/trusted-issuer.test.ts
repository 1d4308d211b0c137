import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readConfig } from "../src/settings/config.js";
import { openTrustedIssuer, type TrustedIssuer } from "../src/trusted-issuer.js";
import { type KeyServer, startKeyServer } from "./auth/key-server.js";
import {
  audience,
  goodClaims,
  issuer,
  keySetDocument,
  makeKey,
  refusal,
  signToken,
  startMs,
} from "./auth/token-fixtures.js";

const key = makeKey("ES256", "first");
const document = keySetDocument(key.publicJwk);

let folder: string;
let server: KeyServer;
let trusted: TrustedIssuer | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "cupo-trust-"));
  server = await startKeyServer(document);
  await writeFile(join(folder, "keys.json"), document);
});

afterEach(async () => {
  trusted?.close();
  trusted = undefined;
  await Promise.all([server.close(), rm(folder, { recursive: true })]);
});

describe("a configured issuer", () => {
  test.each([
    ["at an address", () => ({ AUTH_JWKS_URL: server.url })],
    ["in a file", () => ({ AUTH_JWKS_FILE: join(folder, "keys.json") })],
  ])("is trusted by its keys %s", async (_name, keys) => {
    const { verifyToken } = await open(keys());
    expect(await verifyToken(`Bearer ${signToken(key)}`)).toMatchObject({ issuer, clientId: "booking-bot" });
    const forged = signToken(makeKey("ES256", "first"));
    expect((await refusal(verifyToken(`Bearer ${forged}`))).code).toBe("INVALID_ACCESS_TOKEN");
  });

  test("can have its own token types and claims", async () => {
    const { verifyToken } = await open({
      AUTH_JWKS_URL: server.url,
      AUTH_TOKEN_TYPES: "JWT",
      AUTH_CLIENT_CLAIM: "azp",
      AUTH_SCOPE_CLAIM: "scp",
    });
    const token = signToken(key, goodClaims({ azp: "portal", scp: ["siau:write"] }), { typ: "JWT" });
    expect(await verifyToken(`Bearer ${token}`)).toMatchObject({ clientId: "portal", scopes: new Set(["siau:write"]) });
  });

  test("is rejected if its key file is invalid", async () => {
    await writeFile(join(folder, "keys.json"), "{}");
    await expect(open({ AUTH_JWKS_FILE: join(folder, "keys.json") })).rejects.toThrow("is not a JSON Web Key Set");
  });
});

async function open(environment: Readonly<Record<string, string>>): Promise<TrustedIssuer> {
  const config = readConfig({
    AUTH_ISSUER: issuer,
    AUTH_AUDIENCE: audience,
    PUBLIC_URL: "https://cupo.example.org",
    CUPO_DATA_DIR: folder,
    ...environment,
  });
  trusted = await openTrustedIssuer(
    config,
    () => startMs,
    () => undefined,
  );
  return trusted;
}
