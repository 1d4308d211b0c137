import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

/** Texts by path, relative to src: `rest/handler.ts`. */
type Sources = Readonly<Record<string, string>>;

/** A rule about sources: gives a line for each place that breaks it. */
interface Rule {
  readonly name: string;
  readonly findings: (sources: Sources) => string[];
  /** Sources with one thing that is wrong, which the rule must find, beside others that it must let pass. */
  readonly defect: Sources;
  readonly found: string;
}

const MAX_LINES = 300;

const rules: readonly Rule[] = [
  {
    name: "no imports in a circle",
    findings: (sources) => circles(sources),
    defect: {
      "a.ts": 'import { b } from "./folder/b.js";',
      "folder/b.ts": 'import type { C } from "./c.js";',
      "folder/c.ts": 'export { a } from "../a.js";',
      "d.ts": 'import { a } from "./a.js";',
    },
    found: "a.ts → folder/b.ts → folder/c.ts → a.ts",
  },
  {
    name: "errors, call and the settings are leaves",
    findings: (sources) => arrows(sources, /^(errors|call|settings)\.ts$/, /./),
    defect: { "call.ts": 'import "./errors.js";', "errors.ts": 'import { Code } from "@connectrpc/connect";' },
    found: "call.ts → errors.ts",
  },
  {
    name: "generated code imports only generated code",
    findings: (sources) => arrows(sources, /^gen\//, /^(?!gen\/)/),
    defect: { "gen/a_pb.ts": 'import type { B } from "./b_pb";\nimport type { Call } from "../call.js";' },
    found: "gen/a_pb.ts → call.ts",
  },
  {
    name: "scheduling imports nothing of the project",
    findings: (sources) => arrows(sources, /^scheduling\//, /^(?!scheduling\/)/),
    defect: { "scheduling/slots.ts": 'import { time } from "./time.js";\nimport { notFound } from "../errors.js";' },
    found: "scheduling/slots.ts → errors.ts",
  },
  {
    name: "screening imports nothing of the project",
    findings: (sources) => arrows(sources, /^screening\//, /^(?!screening\/)/),
    defect: {
      "screening/screen-text.ts": 'import { iban } from "./iban.js";\nimport { notFound } from "../errors.js";',
    },
    found: "screening/screen-text.ts → errors.ts",
  },
  {
    name: "rest imports nothing of the project but google.api",
    findings: (sources) => arrows(sources, /^rest\//, /^(?!rest\/|gen\/google\/)/),
    defect: {
      "rest/http-rule.ts": 'import { http } from "../gen/google/api/annotations_pb.js";',
      "rest/render.ts": 'import { operation } from "../gen/cupo/options/v1/options_pb.js";',
    },
    found: "rest/render.ts → gen/cupo/options/v1/options_pb.ts",
  },
  {
    name: "http imports nothing of the project but the types of its requests and the errors",
    findings: (sources) => arrows(sources, /^http\//, /^(?!http\/|errors\.ts$|request-log\.ts$)/),
    defect: { "http/listen.ts": 'import { renderError } from "../public-api.js";' },
    found: "http/listen.ts → public-api.ts",
  },
  {
    name: "interceptors know neither transports nor services nor the database",
    findings: (sources) =>
      arrows(sources, /^interceptors\//, /^(services|postgres|rest|http|jobs|auth|server|config)\b/),
    defect: { "interceptors/store.ts": 'import type {\n  A,\n  B,\n} from "../postgres/unit-of-work.js";' },
    found: "interceptors/store.ts → postgres/unit-of-work.ts",
  },
  {
    name: "services know neither transports nor interceptors",
    findings: (sources) => arrows(sources, /^services\//, /^(rest|http|interceptors|auth|jobs|server|config)\b/),
    defect: { "services/a.ts": 'import { invoke } from "../rest/invoke.js";' },
    found: "services/a.ts → rest/invoke.ts",
  },
  {
    name: "postgres knows neither transports nor services",
    findings: (sources) => arrows(sources, /^postgres\//, /^(rest|http|services|auth|jobs|server|config)\b/),
    defect: {
      "postgres/patients.ts": 'import { toPatient } from "../services/patient-service.js";',
      "postgres/keys.ts": 'import type { Claim } from "../interceptors/idempotency.js";',
    },
    found: "postgres/patients.ts → services/patient-service.ts",
  },
  {
    name: "only the command line imports the composition, nothing imports the command line",
    findings: (sources) => [
      ...arrows(sources, /^(?!main\.ts$)/, /^server\.ts$/),
      ...arrows(sources, /./, /^main\.ts$/),
    ],
    defect: { "main.ts": 'await import("./server.js");', "jobs/purge.ts": 'const s = await import("../server.js");' },
    found: "jobs/purge.ts → server.ts",
  },
  {
    name: "only postgres has drivers and builders of SQL; call has the type of a statement",
    findings: (sources) => [
      ...imports(sources, /^(?!postgres\/|call\.ts$)/, /^(knex|pg)$/),
      ...matches(sources, /^call\.ts$/, /^import (?!type\b).*"(knex|pg)"/m),
    ],
    defect: {
      "services/a.ts": 'import knex from "knex";',
      "call.ts": 'import type { Knex } from "knex";',
      "postgres/sql.ts": 'import knex from "knex";',
    },
    found: "services/a.ts → knex",
  },
  {
    name: "no SQL text in services, interceptors, rules and transports",
    findings: (sources) =>
      matches(
        sources,
        /^(services|interceptors|scheduling|rest|http|auth)\//,
        /\b(SELECT|DELETE)\b[^"]*\bFROM\b|\bINSERT INTO\b|\bUPDATE\s+\w+\s+SET\b|\bSET LOCAL\b/,
      ),
    defect: { "services/a.ts": "raw(`SELECT *\n  FROM patients`)", "services/b.ts": '{ action: "UPDATE" }' },
    found: "services/a.ts:1",
  },
  {
    name: "only the configuration and the command line read the environment",
    findings: (sources) =>
      matches(sources, /^(?!(config|main)\.ts$)/, /\bprocess\s*(\?\.|\.|\[")\s*env\b|\benv\b.*"node:process"/),
    defect: { "auth/a.ts": "const a = 1;\nconst b = process.env;", "main.ts": "readConfig(process.env)" },
    found: "auth/a.ts:2",
  },
  {
    name: "no default exports",
    findings: (sources) => matches(sources, /^(?!gen\/)/, /^export default\b|\bas default\b/m),
    defect: { "a.ts": "/** A. */\nexport default function a() {}" },
    found: "a.ts:2",
  },
  {
    name: "no file passes the exports of others on",
    findings: (sources) => [
      ...matches(sources, /^(?!gen\/)/, /^export\s*(type\s*)?(\*|\{[^}]*\}\s*from\b)/m),
      ...named(sources, /(^|\/)index\.ts$/),
    ],
    defect: { "rest/all.ts": 'export {\n  a,\n} from "./a.js";', "rest/b.ts": "export { a, b };" },
    found: "rest/all.ts:1",
  },
  {
    name: "no file for things that belong nowhere",
    findings: (sources) => named(sources, /(^|\/)(utils?|helpers?|common|types|misc|shared)(\.ts$|\/)/),
    defect: { "rest/utils.ts": "", "rest/message-types.ts": "" },
    found: "rest/utils.ts",
  },
  {
    name: "kebab-case file names, in at most one folder below src",
    findings: (sources) => named(sources, /^(?!gen\/)(?!([a-z]+(-[a-z]+)*\/)?[a-z0-9]+(-[a-z0-9]+)*\.ts$)/),
    defect: { "rest/json/read.ts": "", "rest/read-json.ts": "" },
    found: "rest/json/read.ts",
  },
  {
    name: `files of at most ${MAX_LINES} lines`,
    findings: (sources) =>
      named(sources, /^(?!gen\/)/).filter((path) => (sources[path] ?? "").trimEnd().split("\n").length > MAX_LINES),
    defect: { "a.ts": "x;\n".repeat(MAX_LINES + 1), "b.ts": "x;\n".repeat(MAX_LINES) },
    found: "a.ts",
  },
];

describe("the sources of the service have", () => {
  const sources = readSources(fileURLToPath(new URL("../src", import.meta.url)));

  test.each(rules)("$name", ({ findings }) => {
    expect(findings(sources)).toEqual([]);
  });

  test("imports that are found at all", () => {
    const counts = Object.keys(sources).map((path) => importsOf(sources, path).length);
    expect(counts.reduce((sum, count) => sum + count)).toBeGreaterThan(counts.length);
    expect(importsOf(sources, "postgres/sql.ts")).toEqual(["knex"]);
  });

  test("only files to import", () => {
    const missing = Object.keys(sources)
      .flatMap((path) => importsOf(sources, path))
      .filter((target) => target.endsWith(".ts") && sources[target] === undefined);
    expect(missing).toEqual([]);
  });
});

describe("a seeded defect is found:", () => {
  test.each(rules)("$name", ({ findings, defect, found }) => {
    expect(findings(defect)).toEqual([found]);
  });
});

test("an import is found in any form", () => {
  const text = `import a, { b } from "./a.js";
import type { C } from "../c.js";
import {
  d,
  type E,
} from "node:fs";
import "./side-effect.js";
export { f } from "../g/f.js";
const from = "./text.js";
const h = await import("./h.js");
type I = typeof import("../i.js");`;
  const found = ["rest/a.ts", "c.ts", "node:fs", "rest/side-effect.ts", "g/f.ts", "rest/h.ts", "i.ts"];
  expect(importsOf({ "rest/any.ts": text }, "rest/any.ts")).toEqual(found);
});

function readSources(root: string): Sources {
  const paths = readdirSync(root, { recursive: true, encoding: "utf8" }).map((path) => path.replaceAll("\\", "/"));
  const files = paths.filter((path) => path.endsWith(".ts"));
  return Object.fromEntries(files.map((path) => [path, readFileSync(`${root}/${path}`, "utf8")]));
}

/** What a file imports, for its types alone too: files of src by their path, packages by their name. */
function importsOf(sources: Sources, path: string): string[] {
  const text = sources[path] ?? "";
  const statements = text.matchAll(/^(?:import|export)\b(?:[^"';]*?\bfrom)?\s*"([^"]+)"/gm);
  const expressions = text.matchAll(/\bimport\(\s*"([^"]+)"/g);
  return [...statements, ...expressions].map(([, specifier = ""]) => targetOf(path, specifier));
}

function targetOf(path: string, specifier: string): string {
  if (!specifier.startsWith(".")) return specifier;
  return `${posix.join(posix.dirname(path), specifier).replace(/\.js$/, "")}.ts`;
}

/** Imports of files of the project whose path matches, by files whose path matches. */
function arrows(sources: Sources, from: RegExp, to: RegExp): string[] {
  return imports(sources, from, to).filter((arrow) => arrow.endsWith(".ts"));
}

/** The same for whatever is imported: files and packages. */
function imports(sources: Sources, from: RegExp, to: RegExp): string[] {
  return named(sources, from)
    .flatMap((path) => importsOf(sources, path).map((target) => ({ path, target })))
    .filter(({ target }) => to.test(target))
    .map(({ path, target }) => `${path} → ${target}`);
}

/** The first match of a pattern in each file, with its line. */
function matches(sources: Sources, paths: RegExp, pattern: RegExp): string[] {
  return named(sources, paths).flatMap((path) => {
    const text = sources[path] ?? "";
    const index = text.search(pattern);
    return index < 0 ? [] : [`${path}:${text.slice(0, index).split("\n").length}`];
  });
}

function named(sources: Sources, paths: RegExp): string[] {
  return Object.keys(sources).filter((path) => paths.test(path));
}

/** A depth-first walk: an import of a file that is still being walked closes a circle. */
function circles(sources: Sources): string[] {
  const done = new Set<string>();
  const found: string[] = [];
  const walk = (path: string, way: readonly string[]) => {
    const start = way.indexOf(path);
    if (start >= 0) found.push([...way.slice(start), path].join(" → "));
    if (start >= 0 || done.has(path)) return;
    for (const target of importsOf(sources, path)) if (sources[target] !== undefined) walk(target, [...way, path]);
    done.add(path);
  };
  for (const path of Object.keys(sources)) walk(path, []);
  return found;
}
