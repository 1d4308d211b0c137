/**
 * Generates code from the protos: that of the service by buf.gen.yaml, and that of each package by its own templates. The
 * runs are independent, so they run at the same time.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";

await import("./print-validate-proto.mjs");
const runs = [[], ...readdirSync("packages", { withFileTypes: true }).flatMap(runsOf)];
const codes = await Promise.all(runs.map(generate));
process.exitCode = Math.max(...codes);

function runsOf(entry) {
  const folder = `packages/${entry.name}`;
  const templates = [`${folder}/buf.gen.yaml`, `${folder}/test/buf.gen.yaml`].filter((path) => existsSync(path));
  return templates.map((template) => ["--config", `${folder}/buf.yaml`, "--template", template]);
}

async function generate(args) {
  const [code] = await once(spawn("buf", ["generate", ...args], { stdio: "inherit", shell: true }), "exit");
  return code ?? 1;
}
