/**
 * Generates code from the protos: that of the service by buf.gen.yaml, those of its tests and of each package by their own
 * templates. The runs are independent, so they run at the same time. Does nothing if no proto, template, script or
 * version of a package is newer than the last run, which takes seconds.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Written after each run that succeeds. */
const stamp = "build/generated";
const settings = ["buf.yaml", "buf.gen.yaml", "test/buf.yaml", "test/buf.gen.yaml", "package-lock.json"];
const inputs = [...settings, "proto", "test/proto", "scripts", "packages"].filter((path) => existsSync(path));
const folders = readdirSync("packages", { withFileTypes: true }).map(({ name }) => `packages/${name}`);
const runs = [
  ["buf.yaml", "buf.gen.yaml"],
  ...runsOf("test/buf.yaml", ["test/buf.gen.yaml"]),
  ...folders.flatMap((folder) =>
    runsOf(`${folder}/buf.yaml`, [`${folder}/buf.gen.yaml`, `${folder}/test/buf.gen.yaml`]),
  ),
];
if (!isUpToDate()) {
  rmSync(stamp, { force: true });
  await import("./print-validate-proto.mjs");
  const codes = await Promise.all(runs.map(generate));
  process.exitCode = Math.max(...codes);
  mkdirSync("build", { recursive: true });
  if (process.exitCode === 0) writeFileSync(stamp, "");
}

/** Returns the configuration and template of each run whose template exists: an image is built without the tests. */
function runsOf(config, templates) {
  return templates.filter((template) => existsSync(template)).map((template) => [config, template]);
}

async function generate([config, template]) {
  const args = ["generate", "--config", config, "--template", template];
  const [code] = await once(spawn("buf", args, { stdio: "inherit", shell: true }), "exit");
  return code ?? 1;
}

function isUpToDate() {
  const outputs = runs.flatMap(([, template]) =>
    Array.from(readFileSync(template, "utf8").matchAll(/^ +out: (\S+)$/gm), ([, folder]) => folder),
  );
  if (![stamp, ...outputs].every((path) => existsSync(path))) return false;
  return Math.max(...inputs.map(newestIn)) < statSync(stamp).mtimeMs;
}

/** Returns the time of the last change in a file or folder, except in code. */
function newestIn(path) {
  const found = statSync(path);
  if (!found.isDirectory()) return found.mtimeMs;
  const children = readdirSync(path).filter((name) => !["gen", "dist", "node_modules", "src"].includes(name));
  return Math.max(found.mtimeMs, ...children.map((name) => newestIn(join(path, name))));
}
