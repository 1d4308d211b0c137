import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** The fields of /proc/<pid>/stat that follow the command's name, counted from the process state (proc(5)). */
const STATE = 0;
const STARTED_AT = 19;

/**
 * Names a running process in a way that stays true after its id was given to another process, as happens soon after a
 * container restarts: `<pid>.<ticks from boot to its start>`. Undefined where there is none, or only a dead one that its
 * parent has not collected. Outside Linux the second part is 0, so that a reused id is taken for the same process.
 */
export function identifyProcess(pid: number): string | undefined {
  const stat = readProc(pid, "stat");
  if (stat === undefined) return isAlive(pid) ? `${pid}.0` : undefined;
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (fields[STATE] === "Z" || fields[STATE] === "X") return undefined;
  return `${pid}.${fields[STARTED_AT]}`;
}

/** Whether the process that {@link identifyProcess} named still runs. */
export function isRunning(identity: string): boolean {
  return identifyProcess(Number.parseInt(identity, 10)) === identity;
}

/** The arguments a process was started with, separated by blanks or NUL; undefined where the system does not tell. */
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
