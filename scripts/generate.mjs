/**
 * Generates code from the protos: that of the service by buf.gen.yaml, those of its tests and of each package by their own
 * templates. The runs are independent, so they run at the same time.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";

await import("./print-validate-proto.mjs");
const packages = readdirSync("packages", { withFileTypes: true }).map(({ name }) => `packages/${name}`);
const runs = [
  [],
  ...runsOf("test/buf.yaml", ["test/buf.gen.yaml"]),
  ...packages.flatMap((folder) =>
    runsOf(`${folder}/buf.yaml`, [`${folder}/buf.gen.yaml`, `${folder}/test/buf.gen.yaml`]),
  ),
];
const codes = await Promise.all(runs.map(generate));
process.exitCode = Math.max(...codes);

/** Returns the arguments of a run for each of these templates that exists: an image is built without the tests. */
function runsOf(config, templates) {
  return templates
    .filter((template) => existsSync(template))
    .map((template) => ["--config", config, "--template", template]);
}

async function generate(args) {
  const [code] = await once(spawn("buf", ["generate", ...args], { stdio: "inherit", shell: true }), "exit");
  return code ?? 1;
}
