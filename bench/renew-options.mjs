import { Pool } from "pg";
import { openKeyRing } from "../dist/option-tokens/key-ring.js";
import { createOptionTokens } from "../dist/option-tokens/option-tokens.js";
import { optionTokenKeys } from "../dist/postgres/tables/appointments/option-token-keys.js";
import { TENANT_ID } from "./registration.mjs";

const LONGER_MS = 3 * 3_600_000;

/**
 * Seals option tokens that the service gave anew, with its own key, so that they last three hours longer: ten minutes are too
 * short for all rounds. The options have to begin later than that.
 *
 * @param {string} databaseUrl the service's
 * @param {readonly string[]} optionTokens
 * @returns {Promise<string[]>} in the same order
 */
export async function renewOptions(databaseUrl, optionTokens) {
  const pool = new Pool({ connectionString: databaseUrl });
  try {
    const keyRing = await openKeyRing({ store: optionTokenKeys({ pool }), now: Date.now });
    const tokens = createOptionTokens({ keyRing, now: () => Date.now() + LONGER_MS });
    return await Promise.all(optionTokens.map((token) => renew(token, tokens)));
  } finally {
    await pool.end();
  }
}

async function renew(token, tokens) {
  const holder = { tenantId: TENANT_ID, organizationId: undefined, companyId: undefined };
  const opened = await tokens.open(token, holder);
  if (opened.kind === "INVALID") throw new Error("an option token cannot be opened with the keys of its database");
  return (await tokens.seal({ ...opened.option, startsAtMs: Number.POSITIVE_INFINITY }, holder)).token;
}
