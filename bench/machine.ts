import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { type BenchDatabase, setting } from "./bench.js";

const WATCHED_MS = 1_000;
const QUIET_SHARE = 0.1;
const MEMORY_INTERVAL_MS = 250;
const PAGE_BYTES = 4_096;
const BYTES_PER_MB = 1e6;

/** Returns day, machine and Node.js on one line. */
export function describeMachine(): string {
  const day = new Date().toISOString().slice(0, 10);
  const memory = Math.round(totalmem() / 2 ** 30);
  const [processor] = cpus();
  return `${day}, ${cpus().length} × ${processor?.model.trim()}, ${memory} GiB, Node.js ${process.versions.node}`;
}

/**
 * Waits until the processors are nearly idle, for ten seconds at most (`BENCH_QUIET_SECONDS`). Returns the share of
 * their time, 0 to 1, that was in use at the end; 0 without waiting.
 */
export async function waitForQuiet(signal: AbortSignal): Promise<number> {
  const giveUpAt = performance.now() + setting("BENCH_QUIET_SECONDS", 10) * 1_000;
  let share = 0;
  while (performance.now() < giveUpAt) {
    const before = processorTimes();
    await delay(WATCHED_MS, undefined, { signal });
    const after = processorTimes();
    share = 1 - (after.idle - before.idle) / (after.all - before.all);
    if (share < QUIET_SHARE) break;
  }
  return share;
}

/** Returns the contestants in the order of this round. It alternates, because the first one after a pause is slower. */
export function inTurn<Each>(contestants: readonly Each[], round: number): readonly Each[] {
  return round % 2 === 0 ? contestants.toReversed() : contestants;
}

function processorTimes(): { readonly idle: number; readonly all: number } {
  const times = cpus().map((cpu) => cpu.times);
  return {
    idle: times.reduce((sum, { idle }) => sum + idle, 0),
    all: times.reduce((sum, { user, nice, sys, irq, idle }) => sum + user + nice + sys + irq + idle, 0),
  };
}

/** Returns the processor time of a process so far, in seconds, to the kernel's tick. Linux only. */
export function processorSeconds(pid: number): number {
  const { user, system } = statOf(pid);
  return (user + system) / ticksPerSecond();
}

/** Returns the processor time of the database server and all its processes so far, in seconds. Linux only. */
export async function databaseSeconds(database: BenchDatabase): Promise<number> {
  const postmaster = await database.postmaster();
  const { user, system, ended } = statOf(postmaster);
  const children = processes().filter(({ parent }) => parent === postmaster);
  const ticks = children.reduce((sum, child) => sum + child.user + child.system, user + system + ended);
  return ticks / ticksPerSecond();
}

/** Watches the resident memory of a process until `stop`, which returns the maximum in units of 1,000,000 bytes. */
export function watchMemory(pid: number): { stop(): number } {
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, residentMb(pid));
  }, MEMORY_INTERVAL_MS);
  return {
    stop() {
      clearInterval(timer);
      return most;
    },
  };
}

/** Returns 0 for a process that has ended. Linux only. */
function residentMb(pid: number): number {
  const file = `/proc/${pid}/statm`;
  if (!existsSync(file)) return 0;
  const [, pages = "0"] = readFileSync(file, "utf8").split(" ");
  return (Number(pages) * PAGE_BYTES) / BYTES_PER_MB;
}

/** Times in the kernel's ticks; `ended` is that of children which ended. */
interface ProcessStat {
  readonly parent: number;
  readonly user: number;
  readonly system: number;
  readonly ended: number;
}

/** Source: proc_pid_stat(5). The name of the program is in parentheses and can contain spaces. */
function statOf(pid: number): ProcessStat {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ")
    .map(Number);
  const [, parent = 0] = fields;
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
  return { parent, user, system, ended: endedUser + endedSystem };
}

/** A process may end between the two reads. */
function processes(): ProcessStat[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        return [statOf(Number(name))];
      } catch {
        return [];
      }
    });
}

function ticksPerSecond(): number {
  return Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
}

/** Times of calls in milliseconds, and their rate. */
export interface Speed {
  /** Calls a second. */
  readonly rate: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Returns the value in the middle; of two in the middle, the lower one. Expects at least one value. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return at(sorted, Math.floor((sorted.length - 1) / 2));
}

/** Returns the value that this share of the values, 0 to 1, does not exceed. Expects at least one value. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return at(sorted, Math.min(sorted.length - 1, Math.floor(sorted.length * share)));
}

/** Returns the speed of calls from the time of each, in milliseconds, and the duration of all, in seconds. */
export function speedOf(times: readonly number[], seconds: number): Speed {
  return { rate: times.length / seconds, p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99) };
}

/** Returns the median of the ratios of the rounds. Other work of the machine slows both sides of a round alike. */
export function ratioOfRounds(own: readonly number[], others: readonly number[]): number {
  return median(own.map((value, round) => value / at(others, round)));
}

/** Returns the median of one figure of several runs. */
export function medianOf<T>(runs: readonly T[], pick: (run: T) => number): number {
  return median(runs.map(pick));
}

function at(values: readonly number[], index: number): number {
  const value = values[index];
  if (value === undefined) throw new Error("nothing was measured");
  return value;
}
