import { execFile, execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { withDocumentedIds } from "../../src/demo/documented-ids.js";
import { fillDemo } from "../../src/demo/fill-demo.js";
import { DEMO_TENANT_ID } from "../../src/demo/large-clinic.js";
import { smallClinic } from "../../src/demo/small-clinic.js";
import { startTestService, type TestService } from "./service.js";
import type { TokenFor } from "./tokens.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Runs the shell commands of documents, as they stand, at a service with the demo clinics. */
export interface PageShell {
  /** Pastes blocks of commands into one shell and returns what they print. Rejects if a command fails. */
  run(blocks: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

/**
 * Returns the blocks of shell commands in a document, by section (a heading of level 2). The part before the first
 * section has the key "".
 */
export function commandsOf(path: string): ReadonlyMap<string, readonly string[]> {
  const sections = `\n${readFileSync(join(root, path), "utf8")}`.split("\n## ");
  const commands = sections.map((section, index): [string, string[]] => {
    const title = index === 0 ? "" : (section.split("\n")[0] ?? "");
    return [title, Array.from(section.matchAll(/^```sh\n(.*?)^```$/gms), ([, block]) => `${block}`)];
  });
  return new Map(commands.filter(([, blocks]) => blocks.length > 0));
}

/** Starts a service with the demo clinics and the documented ids, and prepares a shell that replaces `npm start`. */
export async function openPageShell(): Promise<PageShell> {
  const service = await startTestService({}, { served: withDocumentedIds });
  const issuer = { sign: (request: TokenFor) => service.token(request) };
  const signal = new AbortController().signal;
  const { internalUrl, now } = service;
  await fillDemo({ internalUrl, issuer, now, signal, onProgress: () => undefined });
  const programs = mkdtempSync(join(tmpdir(), "cupo-programs-"));
  await layPrograms(programs, service);
  return {
    async run(blocks) {
      const script = ["set -eu", ...blocks.map((block) => addressed(block, service))].join("\n");
      const PATH = [programs, process.env["PATH"]].join(delimiter);
      const CUPO_PUBLIC = service.baseUrl;
      const CUPO_INTERNAL = service.internalUrl;
      const env = { ...process.env, PATH, CUPO_PUBLIC, CUPO_INTERNAL, NODE_OPTIONS: clockOption(service.now()) };
      const { stdout } = await promisify(execFile)("sh", ["-c", script], { cwd: root, env });
      return stdout;
    },
    async close() {
      rmSync(programs, { recursive: true, force: true });
      await service.close();
    },
  };
}

/** Replaces the addresses of `npm start` by those of the service. */
function addressed(commands: string, { publicUrl, internalUrl }: TestService): string {
  const internal = internalUrl.replace("http://", "");
  return commands.replaceAll("http://127.0.0.1:8080", publicUrl).replaceAll("127.0.0.1:9090", internal);
}

/**
 * Writes the programs that the pages call. They have tokens of this service, and npm and npx do not use the network.
 */
async function layPrograms(folder: string, service: TestService): Promise<void> {
  const [token, other] = await Promise.all(
    [DEMO_TENANT_ID, smallClinic.tenantId].map((tenantId) => service.token({ tenantId, client: "demo" })),
  );
  const node = `"${process.execPath}"`;
  lay(folder, "node", `exec ${node} "$@"`);
  lay(
    folder,
    "npm",
    `case "$*" in
      "run --silent token -- --tenant ${smallClinic.tenantId}") echo ${other} ;;
      "run --silent token") echo ${token} ;;
      "run proto:export") ${node} scripts/export-protos.mjs ;;
      *) echo "npm $* is not run here" >&2; exit 1 ;;
    esac`,
  );
  lay(folder, "npx", `shift; exec ${node} node_modules/@bufbuild/buf/bin/buf "$@"`);
  if (!isInstalled("curl")) lay(folder, "curl", `exec ${node} test/support/curl.mjs "$@"`);
}

function lay(folder: string, name: string, script: string): void {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

function isInstalled(program: string): boolean {
  try {
    execFileSync("sh", ["-c", `command -v ${program}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Returns the option that stops the clock of every Node.js program of a shell at an instant. */
function clockOption(nowMs: number): string {
  const script = `globalThis.Date = class extends Date {
    constructor(...given) { if (given.length === 0) super(${nowMs}); else super(...given); }
    static now() { return ${nowMs}; }
  };`;
  return `--import=data:text/javascript,${encodeURIComponent(script)}`;
}
