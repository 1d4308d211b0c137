import { setTimeout as delay } from "node:timers/promises";
import { type Bench, setting } from "./bench.js";
import { CONNECTIONS, type LoadResult, registrations, runRegistrationsAside } from "./load.js";
import { medianOf, type Speed, speedOf } from "./machine.js";
import { GOALS, type Report } from "./report.js";
import { signForNewTenants, startService } from "./service.js";

/** One turn: the crowd's answers, and those of the other tenants. */
interface Turn {
  readonly label: string;
  readonly connections: number;
  /** Undefined where there is no crowd. */
  readonly crowd: LoadResult | undefined;
  readonly others: Speed & { readonly failed: number };
}

/** The callers that send without pause in a turn. */
interface Crowd {
  readonly label: string;
  readonly connections: number;
  readonly tokens: readonly string[];
}

const TENANTS = 100;
const OTHERS = 10;
const OTHERS_PER_SECOND = 20;
/** The default limits of a service. The quota stays high, so that only the number of calls is limited. */
const DEFAULT_LIMITS = { CALLS_PER_PRINCIPAL: "", CALLS_PER_TENANT: "", HEAVY_CALLS: "", HEAVY_CALLS_PER_TENANT: "" };
const NOBODY = "nobody";
const ONE_TENANT = "one tenant";

/**
 * Measures a service that receives more registrations than it can do. A hundred tenants send without pause over 32, 160
 * and 800 connections, then one tenant over 160. Meanwhile each of ten other tenants registers two patients a second.
 * Returns how the others are served, and the rate with five times the connections.
 */
export async function overload(bench: Bench): Promise<Report> {
  const { dataDir } = bench.database;
  const service = await startService({ ...bench, settings: DEFAULT_LIMITS });
  try {
    const tokens = await signForNewTenants(dataDir, TENANTS);
    const url = `${service.baseUrl}/patients`;
    const register = registrations(url, await signForNewTenants(dataDir, OTHERS));
    const crowdOf = (times: number): Crowd => ({
      label: `${TENANTS} tenants`,
      connections: CONNECTIONS * times,
      tokens,
    });
    const round: Crowd[] = [
      { label: NOBODY, connections: 0, tokens: [] },
      crowdOf(1),
      crowdOf(5),
      { label: ONE_TENANT, connections: CONNECTIONS * 5, tokens: tokens.slice(0, 1) },
    ];
    const rounds = Array.from({ length: setting("BENCH_ROUNDS", 3) }, () => round).flat();
    bench.progress("warming up");
    await runTurn(url, crowdOf(1), register);
    const turns: Turn[] = [];
    for (const crowd of [...rounds, crowdOf(25), crowdOf(1)]) {
      bench.signal.throwIfAborted();
      bench.progress(`${crowd.label} over ${crowd.connections} connections`);
      turns.push(await runTurn(url, crowd, register));
    }
    return reportOf(turns);
  } finally {
    await service.stop();
  }
}

async function runTurn(url: string, crowd: Crowd, register: () => Promise<number>): Promise<Turn> {
  const { label, connections, tokens } = crowd;
  const seconds = setting("BENCH_SECONDS", 10);
  const [result, others] = await Promise.all([
    connections === 0 ? undefined : runRegistrationsAside({ url, tokens, connections, seconds }),
    registerSteadily(register, seconds),
  ]);
  return { label, connections, crowd: result, others };
}

/** Registers patients at even intervals, without waiting for earlier answers. */
async function registerSteadily(register: () => Promise<number>, seconds: number): Promise<Turn["others"]> {
  const times: number[] = [];
  let failed = 0;
  const timed = async () => {
    const sentAt = performance.now();
    if ((await register()) !== 201) failed += 1;
    times.push(performance.now() - sentAt);
  };
  const calls: Promise<void>[] = [];
  const startedAt = performance.now();
  for (let i = 0; i < seconds * OTHERS_PER_SECOND; i += 1) {
    await delay(Math.max(0, startedAt + (i * 1_000) / OTHERS_PER_SECOND - performance.now()));
    calls.push(timed());
  }
  await Promise.all(calls);
  return { ...speedOf(times, seconds), failed };
}

function reportOf(turns: readonly Turn[]): Report {
  const rows = turns.map(({ label, connections, crowd, others }) => [
    `${label}, ${connections}`,
    ...[201, 429, 503].map((status) => rateOf(crowd, status).toFixed(0)),
    crowd === undefined ? "" : `${crowd.p50Ms.toFixed(0)}, ${crowd.p99Ms.toFixed(0)}`,
    `${others.p50Ms.toFixed(0)}, ${others.p99Ms.toFixed(0)}`,
    String(others.failed),
  ]);
  const of = (label: string, connections: number) =>
    turns.filter((turn) => turn.label === label && turn.connections === connections);
  const p50 = (some: readonly Turn[]) => medianOf(some, ({ others }) => others.p50Ms);
  const created = (connections: number) =>
    medianOf(of(`${TENANTS} tenants`, connections), ({ crowd }) => rateOf(crowd, 201));
  const greedy = of(ONE_TENANT, CONNECTIONS * 5);
  const goals = [
    { goal: GOALS.otherTenants, value: p50(greedy) / p50(of(NOBODY, 0)) },
    { goal: GOALS.otherTenantsFailed, value: greedy.reduce((sum, { others }) => sum + others.failed, 0) },
  ];
  const left = created(CONNECTIONS * 5) / created(CONNECTIONS);
  const notes = [
    `Of the rate over ${CONNECTIONS} connections ${(left * 100).toFixed(0)} % is left over ${CONNECTIONS * 5}.`,
  ];
  const head = ["crowd, connections", "201/s", "429/s", "503/s", "p50, p99 ms", "others' p50, p99 ms", "not 201"];
  return { head, rows, goals, notes, measured: turns };
}

function rateOf(crowd: LoadResult | undefined, status: number): number {
  return crowd === undefined ? 0 : (crowd.statuses[status] ?? 0) / crowd.seconds;
}
