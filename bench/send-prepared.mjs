import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runProgram } from "./run-program.mjs";

const SCRIPT = fileURLToPath(new URL("send-prepared.lua", import.meta.url));
export const CONNECTIONS = 32;
const MOST_SECONDS = 120;
const TIMEOUT_SECONDS = 10;

/**
 * Sends prepared requests by wrk, each once, and gives the answers a second of the time behind the first `warmUp` ones in which
 * all connections were busy. Rejects where one was not answered or was refused. There are more of them than `warmUp` and
 * the connections together.
 *
 * @param {{ baseUrl: string, token: string, folder: string, warmUp: number, signal: AbortSignal,
 *   requests: readonly { httpMethod: string, path: string, key: string, body: object }[] }} options
 */
export async function sendPrepared({ baseUrl, token, folder, requests, warmUp, signal }) {
  const file = join(folder, "requests.txt");
  const lines = requests.map(({ httpMethod, path, key, body }) =>
    [httpMethod, path, key, JSON.stringify(body)].join("\t"),
  );
  await writeFile(file, `${lines.join("\n")}\n`);
  const output = await runProgram(
    "wrk",
    [
      "--threads=1",
      `--connections=${CONNECTIONS}`,
      `--duration=${MOST_SECONDS}s`,
      `--timeout=${TIMEOUT_SECONDS}s`,
      `--script=${SCRIPT}`,
      baseUrl,
    ],
    { env: { TOKEN: token, REQUESTS: file, CONNECTIONS: String(CONNECTIONS), WARM_UP: String(warmUp) }, signal },
  );
  const { completed, refused, broken, answered, seconds } = JSON.parse(output.trimEnd().split("\n").at(-1) ?? "");
  if (refused > 0 || broken > 0 || completed !== requests.length)
    throw new Error(`of ${requests.length} requests some were not answered with success:\n${output}`);
  return answered / seconds;
}
