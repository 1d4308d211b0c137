import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { eventually } from "./eventually.js";
import { freePort } from "./free-port.js";

/** Folder of the deployed rules and configuration. */
const prometheusFolder = fileURLToPath(new URL("../../deploy/prometheus", import.meta.url));

/** Whether Debian's package is installed. It contains both Prometheus and promtool. */
export const isPrometheusThere = ["prometheus", "promtool"].every((program) => {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
});

/** Runs promtool in that folder and returns its exit code and output. Promtool may exit without reading its input. */
export function promtool(
  ...[command, input]: [readonly string[], string?]
): Promise<{ code: number; printed: string }> {
  return new Promise((resolve) => {
    const child = execFile("promtool", [...command], { cwd: prometheusFolder }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), printed: `${stdout}${stderr}` });
    });
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(input);
  });
}

/** A Prometheus with the deployed configuration, except that it scrapes the target of the test, every second. */
export interface RunningPrometheus {
  /** Calls Prometheus' HTTP API and returns the member `data` of the answer. Rejects if the answer is not a success. */
  ask(path: string, parameters?: Readonly<Record<string, string>>): Promise<unknown>;
  stop(): Promise<void>;
}

/** Starts Prometheus on a free port. `target` is `host:port`. */
export async function startPrometheus(target: string): Promise<RunningPrometheus> {
  const folder = mkdtempSync(join(tmpdir(), "cupo-prometheus-"));
  cpSync(prometheusFolder, folder, { recursive: true });
  const file = join(folder, "prometheus.yml");
  const changed = readFileSync(file, "utf8")
    .replace("cupo:9090", target)
    .replaceAll(/interval: 15s/g, "interval: 1s");
  writeFileSync(file, changed);
  const port = await freePort();
  const storage = [`--storage.tsdb.path=${join(folder, "data")}`, `--web.listen-address=127.0.0.1:${port}`];
  const child = spawn("prometheus", [`--config.file=${file}`, ...storage], { stdio: "ignore" });
  const ended = once(child, "exit");
  const ask = async (path: string, parameters: Readonly<Record<string, string>> = {}) => {
    const response = await fetch(
      `http://127.0.0.1:${port}/api/v1/${path}?${new URLSearchParams(parameters).toString()}`,
    );
    const answer = (await response.json()) as { status: string; data: unknown; error?: string };
    if (answer.status !== "success") throw new Error(`${parameters["query"] ?? path}: ${answer.error}`);
    return answer.data;
  };
  await eventually(() =>
    ask("status/buildinfo").then(
      () => true,
      () => false,
    ),
  );
  return {
    ask,
    async stop() {
      child.kill("SIGTERM");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
