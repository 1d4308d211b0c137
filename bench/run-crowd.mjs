import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { openDevelopmentIssuer } from "../dist/auth/development-issuer.js";
import { BODY, DOCUMENT_PLACEHOLDER, PATH } from "./registration.mjs";
import { runProgram } from "./run-program.mjs";

const SCRIPT = fileURLToPath(new URL("crowd.lua", import.meta.url));

/** An access token for a tenant that nobody has met, with which patients can be registered, by the issuer of the data folder. */
export async function signForNewTenant(dataDir) {
  const issuer = await openDevelopmentIssuer({ dataDir, now: Date.now });
  const who = { tenantId: randomUUID(), client: randomUUID(), scopes: ["patients:write"] };
  return issuer.sign({ ...who, expiresInSeconds: 3_600 });
}

/** Writes access tokens of so many new tenants to a file, one on each line. */
export async function writeTokens(dataDir, tenants, file) {
  const tokens = await Promise.all(Array.from({ length: tenants }, () => signForNewTenant(dataDir)));
  await writeFile(file, tokens.join("\n"));
}

/**
 * Registers patients of the tenants of a file of tokens, in turn, over so many connections for some seconds, however they are answered:
 * gives how many answers there were of each kind and percentiles of the latency of all. `run` is different for every run on the same
 * tables.
 *
 * @param {{ baseUrl: string, tokens: string, connections: number, run: number, seconds: number, signal: AbortSignal }} options
 */
export async function runCrowd({ baseUrl, tokens, connections, run, seconds, signal }) {
  const terms = ["--threads=1", `--connections=${connections}`, `--duration=${seconds}s`, "--timeout=10s"];
  const env = { BODY, DOCUMENT_PLACEHOLDER, TOKENS: tokens, RUN: String(run) };
  const output = await runProgram("wrk", [...terms, `--script=${SCRIPT}`, `${baseUrl}${PATH}`], { env, signal });
  return JSON.parse(output.trimEnd().split("\n").at(-1) ?? "");
}
