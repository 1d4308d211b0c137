/** Builds where dist is missing or older than a source; prints nothing, so that what runs next owns the output. */
import { execSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const built = "dist/main.js";
const sources = ["src", "proto", "package.json", "buf.gen.yaml", "tsconfig.json", "tsconfig.build.json"];

if (!existsSync(built) || newest(sources) > statSync("build/tsconfig.build.tsbuildinfo").mtimeMs) {
  execSync("npm run --silent build", { stdio: ["ignore", 2, 2] });
}

function newest(paths) {
  return Math.max(...paths.map((path) => (statSync(path).isDirectory() ? newestIn(path) : statSync(path).mtimeMs)));
}

function newestIn(folder) {
  if (folder === join("src", "gen")) return 0;
  const children = readdirSync(folder).map((name) => join(folder, name));
  return children.length === 0 ? 0 : newest(children);
}
