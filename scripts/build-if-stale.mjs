/**
 * Builds if dist is missing or older than a source. Prints nothing on success, so that the next command owns the
 * output. If the sources do not compile, the compiler reports that on standard error at each run, and this exits with
 * 1.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";

/** Names of folders that are made by the build. */
const GENERATED = new Set(["gen", "dist"]);
const built = "dist/main.js";
/** Each compilation writes this file, even a failed one. */
const stamp = "build/tsconfig.build.tsbuildinfo";
const settings = ["package.json", "buf.gen.yaml", "tsconfig.json", "tsconfig.build.json"];
const sources = ["src", "packages", "proto", "scripts/bundle.mjs", "scripts/copy-assets.mjs", ...settings];

if (!existsSync(built) || !existsSync(stamp) || newest(sources) > statSync(stamp).mtimeMs) {
  const { status } = spawnSync("npm run --silent build", { shell: true, stdio: ["ignore", 2, 2] });
  if (status !== 0) {
    rmSync(stamp, { force: true });
    process.exit(1);
  }
}

function newest(paths) {
  return Math.max(...paths.map((path) => (statSync(path).isDirectory() ? newestIn(path) : statSync(path).mtimeMs)));
}

function newestIn(folder) {
  if (GENERATED.has(basename(folder))) return 0;
  const children = readdirSync(folder).map((name) => join(folder, name));
  return children.length === 0 ? 0 : newest(children);
}
