import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { builtProgram } from "./built-program.js";
import { machineClock } from "./clock.js";
import { eventually } from "./eventually.js";
import { freePort } from "./free-port.js";
import { PATIENT } from "./patience.js";
import { within } from "./within.js";

/** The service, compiled from the current sources. */
export interface CompiledService {
  /**
   * Starts `cupo serve` on free ports with this environment and waits until it listens. Nothing of the test's
   * environment is passed on except PATH and the machine's clock. `flags` are those of `serve`.
   */
  start(environment: Readonly<Record<string, string>>, flags?: readonly string[]): Promise<ServiceProcess>;
  /** Kills the processes that still run. */
  stopAll(): void;
}

/** The addresses of a service process. */
interface Addresses {
  readonly baseUrl: string;
  readonly publicUrl: string;
  readonly internalUrl: string;
}

/** A process of the service. */
export interface ServiceProcess extends Addresses {
  readonly pid: number;
  /** The lines of its standard output so far. */
  readonly lines: readonly string[];
  /** Resolves when a line of the standard output contains this text. */
  printed(text: string): Promise<void>;
  /** Sends the signal and returns the exit code. Rejects if the process still runs after 10 s. */
  stop(signal?: "SIGTERM" | "SIGINT"): Promise<number | NodeJS.Signals>;
  /** Kills the process and resolves when it is dead. */
  kill(): Promise<void>;
}

/** The process has no load balancer that must notice its end. Calls may wait, because the machine may be busy. */
const ON_ITS_OWN = { DRAIN_SECONDS: "0", WAIT_SECONDS: PATIENT, BASE_PATH: "/api/external/v1" };

/** Disables V8's optimization, which does not pay off in processes that live for seconds. */
const FLAGS = ["--no-opt"];

/** Returns the service of the current sources, or of a program that was built into `folder`. */
export async function compileService(folder?: string): Promise<CompiledService> {
  const program = join(folder ?? (await builtProgram()), "dist/main.js");
  const children: ChildProcess[] = [];
  return {
    async start(environment, flags = []) {
      const [PORT, INTERNAL_PORT] = [String(await freePort()), String(await freePort())];
      const env = { ...ON_ITS_OWN, PORT, INTERNAL_PORT, ...environment };
      const own = { PATH: process.env["PATH"], ...machineClock, ...env };
      const child = spawn(process.execPath, [...FLAGS, program, "serve", ...flags], { env: own });
      children.push(child);
      const host = environment["HOST"] ?? "127.0.0.1";
      return watch(child, {
        publicUrl: `http://${host}:${env.PORT}`,
        internalUrl: `http://${environment["INTERNAL_HOST"] ?? host}:${env.INTERNAL_PORT}`,
        baseUrl: `http://${host}:${env.PORT}${env.BASE_PATH}`,
      });
    },
    stopAll() {
      for (const child of children) child.kill("SIGKILL");
    },
  };
}

async function watch(child: ChildProcess, addresses: Addresses): Promise<ServiceProcess> {
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
  await Promise.race([eventually(() => isLive(addresses.internalUrl)), ended]);
  if (child.exitCode !== null) throw new Error(`the service did not start: ${complaints || lines.at(-1)}`);
  return {
    ...addresses,
    pid: child.pid ?? 0,
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

async function isLive(internalUrl: string): Promise<boolean> {
  const response = await fetch(`${internalUrl}/livez`).catch(() => undefined);
  await response?.text();
  return response?.ok === true;
}
