/**
 * Compiles the programs of bench/ to build/bench, because Node.js 20 cannot run TypeScript. Their imports of `src` become
 * imports of the compiled modules in `dist`, so that they measure the built program. An argument names another folder.
 */
import { readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const FOLDER = "bench";
const [, , output = join("build", FOLDER)] = process.argv;
const OF_SOURCE = "../src/";

const programs = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".ts"))
  .map((name) => [name.replace(/\.ts$/, ""), join(FOLDER, name)]);
const fromCompiled = {
  name: "from-compiled",
  resolveId: (source) => (source.startsWith(OF_SOURCE) ? { id: compiled(source), external: true } : null),
};

function compiled(source) {
  return pathToFileURL(resolve("dist", source.slice(OF_SOURCE.length))).href;
}

rmSync(output, { recursive: true, force: true });
const bundle = await rolldown({
  input: Object.fromEntries(programs),
  platform: "node",
  external: /^(?!\.)/,
  plugins: [fromCompiled],
});
await bundle.write({ dir: output, format: "esm", entryFileNames: "[name].js", chunkFileNames: "part-[hash].js" });
