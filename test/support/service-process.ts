import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { builtProgram } from "./built-program.js";
import { machineClock } from "./clock.js";
import { PATIENT } from "./patience.js";
import { within } from "./within.js";

/** The service, compiled from its sources as they are. */
export interface CompiledService {
  /** Starts `cupo serve` on free ports with this environment and nothing else of the test's but the clock, and waits until it listens. */
  start(environment: Readonly<Record<string, string>>): Promise<ServiceProcess>;
  /** Kills what still runs. */
  stopAll(): void;
}

/** A process of the service. */
export interface ServiceProcess {
  readonly baseUrl: string;
  readonly publicUrl: string;
  readonly internalUrl: string;
  /** The lines of its standard output, so far. */
  readonly lines: readonly string[];
  /** Resolves when a line of the standard output has this text. */
  printed(text: string): Promise<void>;
  /** Asks the process to end. Gives its exit code, or rejects after the 10 s in which it must be gone. */
  stop(signal?: "SIGTERM" | "SIGINT"): Promise<number | NodeJS.Signals>;
  /** Resolves when the process is dead. */
  kill(): Promise<void>;
}

/** On free ports, with nobody before it who would have to notice that it stops, and with calls that wait on a busy machine. */
const ON_ITS_OWN = { PORT: "0", INTERNAL_PORT: "0", DRAIN_SECONDS: "0", WAIT_SECONDS: PATIENT };

/** A process that a test starts lives for seconds, in which what V8 would optimize does not pay for itself. */
const FLAGS = ["--no-opt"];

/** The service as its sources in the project are, or as another program was built into a folder. */
export async function compileService(folder?: string): Promise<CompiledService> {
  const program = join(folder ?? (await builtProgram()), "dist/main.js");
  const children: ChildProcess[] = [];
  return {
    start(environment) {
      const env = { PATH: process.env["PATH"], ...machineClock, ...ON_ITS_OWN, ...environment };
      const child = spawn(process.execPath, [...FLAGS, program, "serve"], { env });
      children.push(child);
      return watch(child);
    },
    stopAll() {
      for (const child of children) child.kill("SIGKILL");
    },
  };
}

async function watch(child: ChildProcess): Promise<ServiceProcess> {
  const lines: string[] = [];
  const waiting = new Map<string, () => void>();
  const ended = once(child, "exit").then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  if (child.stdout === null || child.stderr === null) throw new Error("the process has no output");
  let complaints = "";
  child.stderr.on("data", (data: Buffer) => {
    complaints += data.toString();
  });
  createInterface(child.stdout).on("line", (line) => {
    lines.push(line);
    for (const [text, resolve] of waiting) if (line.includes(text)) resolve();
  });
  const printed = async (text: string) => {
    if (lines.some((line) => line.includes(text))) return;
    await new Promise<void>((resolve) => waiting.set(text, resolve));
  };
  await Promise.race([printed("Internal ("), ended]);
  const [baseUrl, internalUrl] = ["Public ", "Internal ("].map((label) => urlAfter(label, lines));
  if (baseUrl === undefined || internalUrl === undefined) throw new Error(`the service did not start: ${complaints}`);
  return {
    baseUrl,
    publicUrl: new URL(baseUrl).origin,
    internalUrl,
    lines,
    printed,
    stop(signal = "SIGTERM") {
      child.kill(signal);
      return within(10_000, ended);
    },
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

function urlAfter(label: string, lines: readonly string[]): string | undefined {
  return /http\S+/.exec(lines.find((line) => line.startsWith(label)) ?? "")?.[0];
}
