import { fileURLToPath } from "node:url";
import { BODY, DOCUMENT_PLACEHOLDER, PATH } from "./registration.mjs";
import { runProgram } from "./run-program.mjs";

const SCRIPT = fileURLToPath(new URL("register-patients.lua", import.meta.url));
export const CONNECTIONS = 32;
const THREADS = 1;
const TIMEOUT_SECONDS = 10;

/**
 * Registers patients as fast as the service answers, for some seconds, and gives the answers, the answers a second and
 * percentiles of their latency in milliseconds. Rejects where an answer was not a success or did not come.
 *
 * @param {{ baseUrl: string, path?: string, token: string, run: number, seconds: number,
 *   connections?: number, signal: AbortSignal }} options
 */
export async function runWrk({ baseUrl, path = PATH, token, run, seconds, connections = CONNECTIONS, signal }) {
  const output = await runProgram(
    "wrk",
    [
      `--threads=${THREADS}`,
      `--connections=${connections}`,
      `--duration=${seconds}s`,
      `--timeout=${TIMEOUT_SECONDS}s`,
      `--script=${SCRIPT}`,
      `${baseUrl}${path}`,
    ],
    { env: { TOKEN: token, BODY, DOCUMENT_PLACEHOLDER, RUN: String(run) }, signal },
  );
  const result = JSON.parse(output.trimEnd().split("\n").at(-1) ?? "");
  if (result.refused > 0 || result.broken > 0) throw new Error(`registrations were refused or broken off:\n${output}`);
  return {
    completed: result.completed,
    rate: result.completed / result.seconds,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
  };
}
