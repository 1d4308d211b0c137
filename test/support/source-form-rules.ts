import { crowdedFolders, matches, named, type Sources } from "./sources.js";

/** A rule about sources. `findings` returns a line for each violation. */
export interface Rule {
  readonly name: string;
  readonly findings: (sources: Sources) => string[];
  /** Sources with one violation, which the rule must find, and code that it must accept. */
  readonly defect: Sources;
  readonly found: string;
}

const MAX_LINES = 220;
const MAX_FILES = 20;

/** Rules about exports, names and sizes of files and folders. */
export const formRules: readonly Rule[] = [
  {
    name: "no default exports",
    findings: (sources) => matches(sources, /^(?!gen\/)/, /^export default\b|\bas default\b/m),
    defect: { "a.ts": "/** A. */\nexport default function a() {}" },
    found: "a.ts:2",
  },
  {
    name: "no file re-exports from another file",
    findings: (sources) => [
      ...matches(sources, /^(?!gen\/)/, /^export\s*(type\s*)?(\*|\{[^}]*\}\s*from\b)/m),
      ...named(sources, /(^|\/)index\.ts$/),
    ],
    defect: { "rest/all.ts": 'export {\n  a,\n} from "./a.js";', "rest/b.ts": "export { a, b };" },
    found: "rest/all.ts:1",
  },
  {
    name: "no utils, helpers, common, types, misc or shared",
    findings: (sources) => named(sources, /(^|\/)(utils?|helpers?|common|types|misc|shared)(\.ts$|\/)/),
    defect: { "rest/utils.ts": "", "rest/message-types.ts": "" },
    found: "rest/utils.ts",
  },
  {
    name: "kebab-case names, at most three levels of folders below src",
    findings: (sources) => named(sources, /^(?!gen\/)(?!([a-z]+(-[a-z]+)*\/){0,3}[a-z0-9]+(-[a-z0-9]+)*(\.d)?\.ts$)/),
    defect: { "a/b/c/d/read.ts": "", "a/b/c/read-json.ts": "" },
    found: "a/b/c/d/read.ts",
  },
  {
    name: `folders of at most ${MAX_FILES} files`,
    findings: (sources) => crowdedFolders(sources, MAX_FILES),
    defect: Object.fromEntries(
      Array.from({ length: MAX_FILES + 1 }, (_, i) => [
        [`a/${i}.ts`, ""],
        [`b/${i % MAX_FILES}.ts`, ""],
      ]).flat(),
    ),
    found: "a",
  },
  {
    name: `files of at most ${MAX_LINES} lines`,
    findings: (sources) =>
      named(sources, /^(?!gen\/)/).filter((path) => (sources[path] ?? "").trimEnd().split("\n").length > MAX_LINES),
    defect: { "a.ts": "x;\n".repeat(MAX_LINES + 1), "b.ts": "x;\n".repeat(MAX_LINES) },
    found: "a.ts",
  },
];
