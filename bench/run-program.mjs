import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);

/**
 * Runs a program to its end and gives what it printed. Rejects, with what it said, where it fails or `signal` stops it.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ env?: Record<string, string>, signal: AbortSignal }} options `env` is added to the environment of this process.
 */
export async function runProgram(program, args, { env = {}, signal }) {
  const { stdout } = await execute(program, args, { env: { ...process.env, ...env }, signal });
  return stdout;
}

/**
 * Throws, saying how to get them, where a program is not to be found in PATH.
 *
 * @param {Readonly<Record<string, string>>} packages The Debian package of each program.
 */
export function requirePrograms(packages) {
  const missing = Object.entries(packages).filter(([program]) => !isInstalled(program));
  if (missing.length === 0) return;
  const lines = missing.map(([program, name]) => `${program} is missing; on Debian: apt-get install ${name}`);
  throw new Error(lines.join("\n"));
}

function isInstalled(program) {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
