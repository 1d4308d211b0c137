import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Account } from "./account.js";

/** Options for running one of PostgreSQL's programs. */
export interface RunOptions {
  /** The account that runs the program; undefined for the account of this process. */
  readonly account: Account | undefined;
  /** The working directory. The account must be able to enter it. */
  readonly cwd: string;
  /** Text for the standard input of the program. */
  readonly input?: string;
  /**
   * A file descriptor for the output of the program. If set, `output` of the result contains no text of the program.
   */
  readonly outputFd?: number;
}

/** The result of a program. `ok`: the program exited with code 0. */
export interface RunResult {
  readonly ok: boolean;
  /** The text that the program wrote to standard output and standard error, and the signal that ended it, if any. */
  readonly output: string;
}

/**
 * Runs a program, waits for its end and returns its result. Except on Windows, the program gets its own session, so
 * that Ctrl-C for the service does not reach it. The program inherits only a few environment variables, no secrets and
 * no libpq settings. Rejects if the program cannot be started.
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

/**
 * Ignores the error of writing to a program that ended before it read all its input. The program's output says why it
 * ended.
 */
function leaveToExit(): void {}
