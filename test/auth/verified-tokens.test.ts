import { expect, it } from "vitest";
import type { TokenClaims } from "../../src/auth/read-claims.js";
import { createVerifiedTokens } from "../../src/auth/verified-tokens.js";
import { issuer, tenantId } from "./token-fixtures.js";

it("keeps the most recently used tokens", () => {
  const tokens = createVerifiedTokens(2);
  for (const digest of ["a", "b"]) tokens.put(digest, 1, claims());
  tokens.get("a", 1);
  tokens.put("c", 1, claims());
  expect(["a", "b", "c"].filter((digest) => tokens.get(digest, 1))).toEqual(["a", "c"]);
});

it("removes no token for one that it does not know", () => {
  const tokens = createVerifiedTokens(2);
  tokens.put("a", 1, claims());
  for (const digest of ["x", "y", "z"]) expect(tokens.get(digest, 1)).toBeUndefined();
  tokens.put("b", 1, claims());
  expect(tokens.get("a", 1)).toBeDefined();
});

it("keeps the tokens of one generation only", () => {
  const tokens = createVerifiedTokens(2);
  tokens.put("a", 1, claims());
  expect(tokens.get("a", 2)).toBeUndefined();
  expect(tokens.get("a", 1)).toBeUndefined();
  tokens.put("b", 3, claims());
  expect(tokens.get("b", 3)).toBeDefined();
});

function claims(): TokenClaims {
  const organizationId = undefined;
  const companyId = undefined;
  const principal = { id: "x", issuer, clientId: "x", tenantId, organizationId, companyId, scopes: new Set<string>() };
  return { principal, fromMs: 0, untilMs: 1 };
}
