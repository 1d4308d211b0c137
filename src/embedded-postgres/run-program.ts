import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Account } from "./account.js";

/** How to run one of PostgreSQL's programs. */
export interface RunOptions {
  /** Who runs it; undefined for the account of this process. */
  readonly account: Account | undefined;
  /** A folder that the account can enter. */
  readonly cwd: string;
  /** Written to its standard input. */
  readonly input?: string;
  /** A file descriptor that takes what it prints, in place of the result. */
  readonly outputFd?: number;
}

/** How a program ended. */
export interface RunResult {
  readonly ok: boolean;
  /** All it printed. */
  readonly output: string;
}

/**
 * Runs a program to its end. It gets a session of its own, so that a Ctrl-C in the terminal, meant for the service, does
 * not reach it, and of the environment only what is no secret and no libpq setting. Rejects where it cannot be run at all.
 */
export async function runProgram(program: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  const { account, cwd, input = "", outputFd } = options;
  const child = spawn(program, args, {
    cwd,
    env: environment(),
    detached: process.platform !== "win32",
    windowsHide: true,
    stdio: ["pipe", outputFd ?? "pipe", outputFd ?? "pipe"],
    ...(account === undefined ? {} : { uid: account.uid, gid: account.gid }),
  });
  const output: string[] = [];
  child.stdout?.setEncoding("utf8").on("data", (text: string) => output.push(text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => output.push(text));
  child.stdin?.on("error", leaveToExit).end(input);
  const [code, signal] = await once(child, "close");
  if (signal !== null) output.push(`ended by ${signal}\n`);
  return { ok: code === 0, output: output.join("") };
}

function environment(): NodeJS.ProcessEnv {
  const { env } = process;
  const names = ["PATH", "SystemRoot", "TEMP", "TMP", "TMPDIR", "LD_LIBRARY_PATH"];
  const kept = Object.fromEntries(names.filter((name) => env[name] !== undefined).map((name) => [name, env[name]]));
  return { ...kept, LC_ALL: "C" };
}

/** A program that ends before it has read its input has said why. */
function leaveToExit(): void {}
