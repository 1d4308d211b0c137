import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { onceInRun } from "../support/once-in-run.js";
import { compiledPackages, root, type WorkspacePackage, workspacePackages } from "./workspace-packages.js";

const run = promisify(execFile);
/** A package that programs in the folder use beside the peers. It is packed, to share the installed peers. */
const INSTALLED = "@connectrpc/connect-node";
/** Servers that programs in the folder use. They are linked, since the packages do not depend on them. */
const SERVERS = ["express", "fastify", "@types/express"];

/**
 * Returns a folder as a user of the packages has it: `npm init -y` for ES modules, then `npm install` of the packed packages and of
 * their peers, without a registry. `programs/NAME` has the program in `test/packed` of each package that has one,
 * `readme` the files of the README of connect-rest. Both are compiled with the declarations of the packed packages.
 */
export function freshFolder(): Promise<string> {
  return onceInRun("fresh-folder", async (folder) => {
    await install(folder, await packAll(`${folder}-tarballs`));
    await writePrograms(folder);
    await writeReadme(join(folder, "readme"));
    await compile(folder);
  });
}

/** Returns the files in a packed package. */
export async function filesOf({ name }: WorkspacePackage): Promise<readonly string[]> {
  const list = await readFile(`${await freshFolder()}-tarballs/${name.replaceAll("/", "+")}.json`, "utf8");
  const [packed] = JSON.parse(list) as readonly { readonly files: readonly { readonly path: string }[] }[];
  return packed?.files.map(({ path }) => path) ?? [];
}

/** Returns an environment in which the tools of the workspace, such as buf, are found. */
export function withTools(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${join(root, "node_modules/.bin")}${delimiter}${process.env["PATH"]}` };
}

async function packAll(target: string): Promise<string[]> {
  await mkdir(target);
  const compiled = await compiledPackages();
  const own = workspacePackages.map(({ folder, name }) => [name, join(compiled, "packages", folder)]);
  const peers = new Set(workspacePackages.flatMap((each) => each.peers));
  const all = [...own, ...[...peers, INSTALLED].map((name) => [name, join(root, "node_modules", name)])];
  return Promise.all(all.map(([name = "", folder = ""]) => pack(name, folder, target)));
}

/** Packs without `prepack`, which compiles into the workspace. Returns the path of the tarball. */
async function pack(name: string, folder: string, target: string): Promise<string> {
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", target];
  const { stdout } = await run("npm", args, { cwd: folder, maxBuffer: 10_000_000 });
  await writeFile(join(target, `${name.replaceAll("/", "+")}.json`), stdout);
  const [packed] = JSON.parse(stdout) as readonly { readonly filename: string }[];
  return join(target, packed?.filename ?? "");
}

async function install(folder: string, tarballs: readonly string[]): Promise<void> {
  await run("npm", ["init", "-y"], { cwd: folder });
  await run("npm", ["pkg", "set", "type=module"], { cwd: folder });
  const offline = ["--offline", "--cache", `${folder}-cache`, "--no-audit", "--no-fund", "--ignore-scripts"];
  await run("npm", ["install", ...offline, ...tarballs], { cwd: folder });
  await mkdir(join(folder, "node_modules/@types"));
  for (const name of SERVERS) await symlink(join(root, "node_modules", name), join(folder, "node_modules", name));
}

async function writePrograms(folder: string): Promise<void> {
  for (const each of workspacePackages) {
    const source = join(root, "packages", each.folder, "test");
    if (!existsSync(join(source, "packed"))) continue;
    for (const part of ["packed", "gen"]) {
      await cp(join(source, part), join(folder, "programs", each.folder, part), { recursive: true });
    }
  }
}

/** Writes the files that the README of connect-rest shows, and generates code by them as it says. */
async function writeReadme(folder: string): Promise<void> {
  const readme = await readFile(join(root, "packages/connect-rest/README.md"), "utf8");
  for (const [, path = "", text = ""] of readme.matchAll(/^```\w+ (\S+)\n([^]*?)^```$/gm)) {
    await mkdir(join(folder, path, ".."), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  await linkProtos(folder);
  await run("buf", ["generate"], { cwd: folder, env: withTools() });
  await introduce(join(folder, "src/adapters.ts"));
}

/** Replaces the dependency of buf.yaml, which is in buf's registry, by the same protos of an installed package. */
async function linkProtos(folder: string): Promise<void> {
  const path = join(folder, "buf.yaml");
  const text = await readFile(path, "utf8");
  const offline = text.replace("{ path: proto }", "{ path: proto }, { path: googleapis }").replace(/^deps:.*\n/m, "");
  if (offline.includes("deps")) throw new Error(`buf.yaml of the README has another form:\n${text}`);
  await writeFile(path, offline);
  for (const name of ["annotations", "http"]) {
    const proto = `google/api/${name}.proto`;
    await cp(join(root, "node_modules/google-proto-files", proto), join(folder, "googleapis", proto));
  }
}

/** Declares what the lines of the adapters take for granted. */
async function introduce(path: string): Promise<void> {
  const declarations = [
    'import { createServer } from "node:http";',
    'import { createSecureServer } from "node:http2";',
    'import { createRestHandler } from "@cupo/connect-rest";',
    'import { fastifyPlugin } from "@cupo/connect-rest/fastify";',
    'import { fetchHandler } from "@cupo/connect-rest/fetch";',
    'import { nodeListener } from "@cupo/connect-rest/node";',
    "declare const key: string, cert: string;",
    'declare const app: import("express").Express;',
    'declare const fastify: import("fastify").FastifyInstance;',
    "const rest = createRestHandler({});",
  ];
  await writeFile(path, `${declarations.join("\n")}\n${await readFile(path, "utf8")}`);
}

async function compile(folder: string): Promise<void> {
  const compilerOptions = {
    target: "ES2023",
    module: "NodeNext",
    strict: true,
    outDir: "built",
    rootDir: ".",
    types: ["node"],
    typeRoots: [join(root, "node_modules/@types")],
  };
  const settings = { compilerOptions, include: ["programs", "readme/src"] };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(settings));
  await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", folder], { cwd: folder }).catch(
    ({ stdout }: { stdout: string }) => Promise.reject(new Error(`the programs do not compile:\n${stdout}`)),
  );
}
