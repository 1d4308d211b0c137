/**
 * Measures searches among 1,000,000 patients (BENCH_PATIENTS) of one tenant, as a client of the internal listener gets them,
 * one after the other:
 *
 *   npm run build && node bench/patient-search.mjs
 */
import { pino } from "pino";
import { openDevelopmentIssuer } from "../dist/auth/development-issuer.js";
import { startServer } from "../dist/server.js";
import { readConfig } from "../dist/settings/config.js";
import { openBenchDatabase } from "./bench-database.mjs";
import { fillPatients } from "./fill-patients.mjs";
import { TENANT_ID } from "./registration.mjs";

const PATIENTS = Number(process.env["BENCH_PATIENTS"] || 1_000_000);
const CALLS = 150;
const database = await openBenchDatabase(progress);
try {
  const config = readConfig({
    CUPO_DATA_DIR: database.dataDir,
    PORT: "0",
    INTERNAL_PORT: "0",
    RATE_LIMIT_PER_MINUTE: "1000000000",
    RATE_LIMIT_PER_SECOND: "1000000000",
  });
  const ports = { logger: pino({ enabled: false }), now: Date.now };
  const server = await startServer({ ...config, databaseUrl: database.url }, ports);
  try {
    progress(`adding ${PATIENTS} patients`);
    const ms = await fillPatients(database, PATIENTS);
    progress(`the migration gives them their words in ${(ms / 1_000).toFixed(0)} s`);
    await measure(server.internalUrl);
  } finally {
    await server.close();
  }
} finally {
  await database.close();
}

async function measure(internalUrl) {
  const issuer = await openDevelopmentIssuer({ dataDir: database.dataDir, now: Date.now });
  const scopes = ["patients:read", "patients:document:read"];
  const token = await issuer.sign({ tenantId: TENANT_ID, client: "bench", scopes, expiresInSeconds: 3_600 });
  console.log(`${"a page of 50 patients".padEnd(52)} ${["found", "p50 ms", "p99 ms"].map(cell).join(" ")}`);
  for (const [label, request] of searches()) {
    const { times, found } = await timesOf(internalUrl, token, request);
    const percentiles = [0.5, 0.99].map((share) => times[Math.floor(times.length * share)].toFixed(1));
    console.log(`${label.padEnd(52)} ${[String(found), ...percentiles].map(cell).join(" ")}`);
  }
}

function searches() {
  return [
    ["the one with a document number", { documentNumberPrefix: String(10_000_000 + Math.floor(PATIENTS / 2) * 97) }],
    ["the beginning of a document number", { documentNumberPrefix: "5432" }],
    ["the end of a telephone number", { phone: "45678" }],
    ["a rare surname", { name: "tunubala" }],
    ["two rare beginnings", { name: "epia zorai" }],
    ["a common name and a rare surname", { name: "maria epiayu" }],
    ["two of the most common", { name: "rodriguez maria" }],
    ["the most common beginning", { name: "mar" }],
    ["four common words, out of order", { name: "gomez jose rodriguez maria" }],
    ["common, in a status that nobody has", { name: "maria", status: "DECEASED" }],
    ["common, and none has both", { name: "maria", phone: "99999999999" }],
  ];
}

async function timesOf(internalUrl, token, request) {
  const url = `${internalUrl}/cupo.clinic.v1.PatientDirectoryService/SearchPatients`;
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const body = JSON.stringify(request);
  const times = [];
  let found = 0;
  for (let i = 0; i < CALLS; i += 1) {
    const startedAt = performance.now();
    const response = await fetch(url, { method: "POST", headers, body });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`a search was answered ${response.status}: ${text}`);
    found = JSON.parse(text).patients?.length ?? 0;
    if (i >= CALLS / 3) times.push(performance.now() - startedAt);
  }
  return { times: times.toSorted((a, b) => a - b), found };
}

function cell(text) {
  return text.padStart(8);
}

function progress(text) {
  console.error(text);
}
