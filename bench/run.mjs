/**
 * What `npm run bench` runs: the parts that are named, one after the other, each a program of this folder, or the registration of
 * patients where none is; `all` is every one that a table of README.md is of. --profile profiles operations instead, and --out=FOLDER is handed on. See README.md.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/** In the order in which `all` runs them. */
const PARTS = [
  "creation",
  "peers",
  "own-way",
  "operations",
  "reschedule",
  "search",
  "growth",
  "lists",
  "patient-search",
  "overload",
  "greedy",
  "outage",
  "footprint",
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { out: { type: "string" }, profile: { type: "boolean", default: false } },
});
const unknown = positionals.filter((name) => name !== "all" && !PARTS.includes(name));
if (unknown.length > 0) {
  console.error(`There is no ${unknown.join(", ")}. There are: all, ${PARTS.join(", ")}.`);
  process.exitCode = 1;
} else {
  await runAll(values.profile ? ["profile"] : partsOf(positionals));
}

function partsOf(names) {
  if (names.length === 0) return ["creation"];
  return names.includes("all") ? PARTS : names;
}

/** Goes on behind a part that failed, and fails at the end. */
async function runAll(parts) {
  const terms = values.out === undefined ? [] : [`--out=${values.out}`];
  for (const part of parts) {
    if (parts.length > 1) console.log(`\n## ${part}\n`);
    const file = fileURLToPath(new URL(`${part}.mjs`, import.meta.url));
    const child = spawn(process.execPath, [file, ...terms], { stdio: "inherit" });
    const hold = () => undefined;
    process.on("SIGINT", hold);
    const [code] = await once(child, "exit");
    process.off("SIGINT", hold);
    if (code === 0) continue;
    process.exitCode = 1;
    if (code === null) return;
  }
}
