/** `npm run bench`: runs the parts that are named, one after the other, each on a new database. See README.md. */
import { parseArgs } from "node:util";
import { type Bench, openBenchDatabase, programOf } from "./bench.js";
import { creation } from "./creation.js";
import { footprint } from "./footprint.js";
import { growth } from "./growth.js";
import { imports } from "./import.js";
import { operations } from "./operations.js";
import { overload } from "./overload.js";
import { profile } from "./profile.js";
import { type Report, record, textOf } from "./report.js";
import { search } from "./search.js";
import { versions } from "./versions.js";

/** The parts by name. */
export const PARTS: Readonly<Record<string, (bench: Bench) => Promise<Report>>> = {
  creation,
  operations,
  search,
  growth,
  versions,
  profile,
  overload,
  footprint,
  import: imports,
};

interface Options {
  readonly names: readonly string[];
  readonly other: string | undefined;
  readonly out: string | undefined;
  readonly record: boolean;
  readonly signal: AbortSignal;
}

if (process.argv[1] === programOf("run")) await main();

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { other: { type: "string" }, out: { type: "string" }, record: { type: "boolean", default: false } },
  });
  const names = positionals.length === 0 ? ["creation"] : positionals;
  const unknown = names.filter((name) => !(name in PARTS));
  if (unknown.length > 0) {
    console.error(`unknown part: ${unknown.join(", ")}; the parts are ${Object.keys(PARTS).join(", ")}`);
    process.exitCode = 1;
    return;
  }
  const stopping = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"]) process.once(name, () => stopping.abort(new Error(`stopped by ${name}`)));
  const { other, out } = values;
  await runAll({ names, other, out, record: values.record, signal: stopping.signal });
}

/** Runs the other parts even if one fails. */
async function runAll(options: Options): Promise<void> {
  for (const name of options.names) {
    if (options.signal.aborted) return;
    try {
      const report = await measure(name, options);
      console.log(`# ${name}\n\n${textOf(report)}`);
      if (options.record) record(name, report);
    } catch (error) {
      console.error(options.signal.aborted ? String(options.signal.reason) : error);
      process.exitCode = 1;
    }
  }
}

async function measure(name: string, { other, out, signal }: Options): Promise<Report> {
  const part = PARTS[name];
  if (part === undefined) throw new Error(`there is no part ${name}`);
  const progress = (text: string) => console.error(text);
  const database = await openBenchDatabase(progress);
  try {
    return await part({ database, signal, other, out, progress });
  } finally {
    await database.close();
  }
}
