import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * Indexes of fields in /proc/<pid>/stat, counted from the process state, which follows the command's name (proc(5)).
 */
const STATE = 0;
const STARTED_AT = 19;

/**
 * Identifies a running process as `<pid>.<ticks from boot to its start>`. The ticks distinguish the process from a
 * later one with the same id, for example after a container restarts. Returns undefined if the process does not exist
 * or is a zombie.
 *
 * Outside Linux, the ticks are 0. There, a later process with the same id counts as the same process, and a zombie
 * counts as running.
 */
export function identifyProcess(pid: number): string | undefined {
  const stat = readProc(pid, "stat");
  if (stat === undefined) return isAlive(pid) ? `${pid}.0` : undefined;
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (fields[STATE] === "Z" || fields[STATE] === "X") return undefined;
  return `${pid}.${fields[STARTED_AT]}`;
}

/** Whether the process that {@link identifyProcess} identified is still running. */
export function isRunning(identity: string): boolean {
  return identifyProcess(Number.parseInt(identity, 10)) === identity;
}

/**
 * Returns the command line of a process, with blanks or NUL between the arguments. Returns undefined if the system does
 * not report the command line.
 */
export function commandOf(pid: number): string | undefined {
  const command = readProc(pid, "cmdline");
  if (command !== undefined || process.platform === "win32") return command;
  try {
    return execFileSync("ps", ["-ww", "-o", "args=", "-p", String(pid)], { encoding: "utf8" });
  } catch {
    return undefined;
  }
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  if (!(pid > 0)) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
