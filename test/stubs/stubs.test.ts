import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { servedServices } from "../../src/services/services.js";
import { removeFolder, temporaryFolder } from "../support/temporary-folder.js";
import { type StubLanguage, stubLanguages } from "./stub-languages.js";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
/** Third-party definitions that those of Cupo import and no language has stubs of at hand. */
const IMPORTED = [
  "google/api/annotations.proto",
  "google/api/field_behavior.proto",
  "google/api/http.proto",
  "buf/validate/validate.proto",
];
const INCLUDED = ["proto", "node_modules/google-proto-files", "build/proto"];
const programs = [...(process.env["PATH"] ?? "").split(delimiter), join(root, "node_modules/.bin")];
const COMPILER_MS = 120_000;

let folder: string;

beforeAll(async () => {
  folder = await temporaryFolder();
});

afterAll(() => removeFolder(folder));

describe("stubs, as users of protoc generate them,", () => {
  for (const each of stubLanguages) {
    const missing = missingPackages(each);
    const { proof, language } = each;

    test(`in ${language} declare every service where the options of its file say`, async (context) => {
      if (missing !== undefined) context.skip(`needs the Debian packages ${missing}`);
      const stubs = await generate(each);
      for (const { service } of servedServices) {
        const { file, declaration } = each.place(service);
        expect(await readFile(join(stubs, file), "utf8")).toContain(declaration);
      }
    });

    if (proof === undefined) continue;
    test(
      `in ${language} are taken by its compiler or interpreter`,
      async (context) => {
        if (missing !== undefined) context.skip(`needs the Debian packages ${missing}`);
        if (!(await succeeds(proof.probe))) context.skip(`needs the Debian packages ${proof.packages}`);
        await run("sh", ["-c", proof.script], { cwd: await generate(each), timeout: COMPILER_MS });
      },
      COMPILER_MS,
    );
  }
});

function missingPackages({ plugins, packages }: StubLanguage): string | undefined {
  const needed = [programNamed("protoc") === undefined ? "protobuf-compiler" : ""];
  if (plugins.some((plugin) => programNamed(plugin) === undefined)) needed.push(packages);
  const named = needed.filter((name) => name !== "");
  return named.length === 0 ? undefined : named.join(" ");
}

function programNamed(name: string): string | undefined {
  return programs.map((path) => join(path, name)).find((path) => existsSync(path));
}

const generated = new Map<StubLanguage, Promise<string>>();

/** The folder that holds the stubs of a language, all files of Cupo and what they import. */
function generate(each: StubLanguage): Promise<string> {
  const made = generated.get(each) ?? generateAnew(each);
  generated.set(each, made);
  return made;
}

async function generateAnew({ language, plugins, options }: StubLanguage): Promise<string> {
  const stubs = join(folder, language);
  await mkdir(stubs);
  const own = (await readdir(join(root, "proto"), { recursive: true })).filter((path) => path.endsWith(".proto"));
  const paths = plugins.map((plugin) => programNamed(plugin) ?? plugin);
  const includes = INCLUDED.map((path) => `-I${path}`);
  await run("protoc", [...includes, ...options(stubs, paths), ...own, ...IMPORTED], { cwd: root });
  return stubs;
}

async function succeeds(script: string): Promise<boolean> {
  return run("sh", ["-c", script]).then(
    () => true,
    () => false,
  );
}
