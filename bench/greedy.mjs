/**
 * Measures what one greedy tenant takes from another: how long the other's registrations take while the first sends, fifty
 * times a second and over twelve connections, what costs most, and how many of them fail. Prints a table:
 *
 *   npm run build && node bench/greedy.mjs
 *
 * BENCH_SECONDS is how long each row takes (5), BENCH_ONLY a part of the names of those to measure.
 */
import { randomInt, randomUUID } from "node:crypto";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { openDevelopmentIssuer } from "../dist/auth/development-issuer.js";
import { scopesOf } from "../dist/scopes.js";
import { servedServices } from "../dist/services/services.js";
import { openBenchDatabase } from "./bench-database.mjs";
import { countSlotsWhenMade, dateIn, openGreedyClinic, ruleOf } from "./greedy-clinic.mjs";
import { startService } from "./measured-service.mjs";
import { BODY, DOCUMENT_PLACEHOLDER } from "./registration.mjs";

const SECONDS = Number(process.env["BENCH_SECONDS"] || 5);
const ONLY = process.env["BENCH_ONLY"] ?? "";
const PARALLEL = 12;
/** An answer that takes longer counts as none. */
const PATIENCE_MS = 5_000;
const GREEDY_PER_SECOND = 50;
const VICTIM_PER_SECOND = 25;
const DEFAULTS = { CALLS_PER_PRINCIPAL: "", CALLS_PER_TENANT: "", HEAVY_CALLS: "", HEAVY_CALLS_PER_TENANT: "" };
const SCHEDULE = "cupo.clinic.v1.ProgramService";
const CONFIGURATION = "cupo.access.v1.SchedulingConfigurationService";

const { signal } = new AbortController();
const database = await openBenchDatabase(progress);
try {
  const { dataDir, url: databaseUrl } = database;
  const service = await startService({ dataDir, databaseUrl, signal, settings: DEFAULTS });
  try {
    const [greedy, victim] = [await callerFor(service, "greedy"), await callerFor(service, "victim")];
    progress("making the schedule of the greedy tenant");
    const clinic = await openGreedyClinic(greedy.ask);
    await measureAll(service, { greedy, victim, clinic });
  } finally {
    await service.stop();
  }
} finally {
  await database.close();
}

async function measureAll(service, { greedy, victim, clinic }) {
  console.log(
    "the greedy tenant sends, the other registers patients   p50 ms   p99 ms  answers  none/5xx  429   the greedy one's answers",
  );
  await measure("nothing", victim, async () => undefined);
  for (const [label, send] of Object.entries(requestsOf(clinic))) {
    if (!label.includes(ONLY)) continue;
    await measure(label, victim, () => send(greedy));
  }
  const idle = await openIdle(new URL(service.baseUrl), 900);
  await measure("900 idle connections, and nothing else", victim, async () => undefined);
  for (const socket of idle) socket.destroy();
  await measureBackground(greedy, victim, clinic);
}

/** What costs most, of each kind; each gives the status of its answer. */
function requestsOf({ programId, ruleId, practitionerIds }) {
  const rule = { programId, ruleId };
  const ids = (count) => Array.from({ length: count }, () => randomUUID());
  const widest = { ...rule, slotDurationMinutes: 1, weekdays: [1, 2, 3, 4, 5, 6, 7] };
  const practitioners = (all) => ({ programId, practitionerIds: all });
  const nested = `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`;
  const complaint = {
    category: "COMPLAINT",
    externalReference: "R-1",
    description: "La espera fue larga. ".repeat(2_950),
  };
  let turn = 0;
  const atTurn = (one, other) => (turn++ % 2 === 0 ? one : other);
  return {
    "previews of a rule of 1-minute slots": ({ rpc }) => rpc(`${SCHEDULE}/PreviewRuleChange`, widest),
    "previews of as many slots as may be": ({ rpc }) =>
      rpc(`${SCHEDULE}/PreviewRuleChange`, { ...rule, weekdays: [atTurn(2, 3)] }),
    "previews of other practitioners": ({ rpc }) =>
      rpc(`${SCHEDULE}/PreviewPractitionerChange`, practitioners(practitionerIds.slice(atTurn(0, 50)))),
    "MaterializeSchedule of what is made": ({ rpc }) => rpc(`${SCHEDULE}/MaterializeSchedule`, { programId }),
    "replacements by 500 practitioners that there are not": ({ rpc }) =>
      rpc(`${CONFIGURATION}/ReplaceProgramPractitioners`, { ...practitioners(ids(500)), expectedVersion: 2 }),
    "practitionerIds of 1,700 items in 63 KB": ({ rest }) =>
      rest("PUT", `/admin/configuration/scheduling/programs/${programId}/practitioners`, {
        practitionerIds: ids(1_600),
        expectedVersion: 2,
      }),
    "practitionerIds of 21,000 items in 63 KB": ({ rest }) =>
      rest("PUT", `/admin/configuration/scheduling/programs/${programId}/practitioners`, {
        practitionerIds: Array.from({ length: 21_000 }, () => ""),
        expectedVersion: 2,
      }),
    "descriptions of 62 KB": ({ rest }) => rest("POST", "/siau-cases", complaint),
    "JSON that is nested 10,000 deep": ({ rest }) => rest("POST", "/patients", nested),
    "holidays made active and inactive": ({ rpc }) =>
      rpc(`${CONFIGURATION}/CreateHoliday`, { date: dateIn(turn++ % 80), name: "Fiesta", active: true }),
    "registrations of its own": ({ rest }) => rest("POST", "/patients", registration()),
    "checks of all invariants": ({ rpc }) => rpc("cupo.clinic.v1.OperationsService/VerifyInvariants", {}),
  };
}

/** A program of ever more slots, made in the background: what becomes of the other's own, and of switching it off. */
async function measureBackground(greedy, victim, clinic) {
  const { programId } = clinic;
  const day = { startsAtLocal: "00:00:00", endsAtLocal: "23:59:59", weekdays: [4, 5, 6], slotDurationMinutes: 1 };
  const wide = await greedy.ask(`${SCHEDULE}/CreateProgramRule`, { programId, ...ruleOf(1), ...day });
  const rule = wide.body.programRule ?? { ruleId: clinic.ruleId, version: 1 };
  const change = { programId, ruleId: rule.ruleId, expectedVersion: rule.version, slotDurationMinutes: 11 };
  if (wide.status !== 200) await greedy.rpc(`${CONFIGURATION}/UpdateProgramRule`, change);
  const millions = wide.status === 200 ? "5.6 million slots" : "as many slots as may be (5.6 million were refused)";
  progress(`the greedy tenant has ${millions} made`);
  await measure("a schedule that is made in the background", victim, async () => undefined);
  const small = await openGreedyClinic(victim.ask, { staff: 20, isWaitedFor: false });
  await measure(
    "the same, and the other has one of 37,440 slots made",
    victim,
    async () => undefined,
    async () => {
      const startedAt = performance.now();
      await Promise.race([countSlotsWhenMade(victim.ask, small.programId), delay(20_000)]);
      return `made after ${since(startedAt)}`;
    },
  );
  const startedAt = performance.now();
  const expectedVersion = wide.status === 200 ? 1 : 2;
  const off = { programId, ruleId: rule.ruleId, active: false, expectedVersion };
  let tries = 0;
  let status = 0;
  while (status !== 200 && tries < 10) {
    tries += 1;
    ({ status } = await greedy.ask(`${CONFIGURATION}/UpdateProgramRule`, off));
  }
  console.log(`its rule was ${status === 200 ? "" : "not "}switched off after ${since(startedAt)}, ${tries} tries`);
}

/** Prints the other's answers while the greedy tenant sends; `until` can make it longer and say something. */
async function measure(label, victim, send, until = async () => "") {
  const ending = new AbortController();
  const statuses = new Map();
  const loops = Array.from({ length: PARALLEL }, async () => {
    while (!ending.signal.aborted) {
      const startedAt = performance.now();
      const status = await send();
      if (status !== undefined) statuses.set(status, (statuses.get(status) ?? 0) + 1);
      await delay(Math.max(0, (1_000 * PARALLEL) / GREEDY_PER_SECOND - (performance.now() - startedAt)));
    }
  });
  const said = until();
  const answers = await registerSteadily(victim);
  const note = await said;
  ending.abort();
  await Promise.all(loops);
  const times = answers.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const at = (share) => (times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0).toFixed(0);
  const count = (isCounted) => answers.filter(({ status }) => isCounted(status)).length;
  const [failed, refused] = [count((status) => status === 0 || status >= 500), count((status) => status === 429)];
  const figures = [at(0.5), at(0.99), times.length, failed, refused];
  const others = [...statuses].map(([status, many]) => `${many} × ${status}`).join(", ");
  const widths = [9, 9, 9, 10, 5];
  console.log(`${label.padEnd(54)}${figures.map((f, i) => String(f).padStart(widths[i])).join("")}   ${others}${note}`);
}

/** Registers a patient at even intervals, whether those before were answered or not. */
async function registerSteadily({ rest }) {
  const sent = [];
  for (let i = 0; i < SECONDS * VICTIM_PER_SECOND; i += 1) {
    const startedAt = performance.now();
    const answered = rest("POST", "/patients", registration()).then((status) => ({
      status,
      ms: performance.now() - startedAt,
    }));
    sent.push(answered);
    await delay(1_000 / VICTIM_PER_SECOND);
  }
  return Promise.all(sent);
}

async function callerFor({ baseUrl, internalUrl }, client) {
  const issuer = await openDevelopmentIssuer({ dataDir: database.dataDir, now: Date.now });
  const scopes = scopesOf(servedServices);
  const token = await issuer.sign({ tenantId: randomUUID(), client, scopes, expiresInSeconds: 3_600 });
  const send = async (method, url, body, patienceMs = 60_000) => {
    const headers = {
      Authorization: `Bearer ${token}`,
      "Content-Type": "application/json",
      "Idempotency-Key": randomUUID(),
    };
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const content = { headers, body: text };
    const response = await fetch(url, { method, ...content, signal: AbortSignal.timeout(patienceMs) });
    return { status: response.status, body: await response.json() };
  };
  const ask = (name, request, patienceMs) => send("POST", `${internalUrl}/${name}`, request, patienceMs);
  return {
    ask,
    rpc: (name, request) => statusOf(ask(name, request, PATIENCE_MS)),
    rest: (method, path, body) => statusOf(send(method, `${baseUrl}${path}`, body, PATIENCE_MS)),
  };
}

/** The status of an answer, 0 where none came. */
function statusOf(answered) {
  return answered.then(
    ({ status }) => status,
    () => 0,
  );
}

function openIdle({ hostname, port }, count) {
  const open = () =>
    new Promise((resolve) => {
      const socket = connect(Number(port), hostname, () => resolve(socket));
      socket.on("error", () => resolve(socket));
    });
  return Promise.all(Array.from({ length: count }, open));
}

function registration() {
  return BODY.replace(DOCUMENT_PLACEHOLDER, String(randomInt(1e14, 3e14)));
}

function since(startedAt) {
  return `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`;
}

function progress(text) {
  process.stderr.write(`${text}\n`);
}
