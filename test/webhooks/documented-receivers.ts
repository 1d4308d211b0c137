import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { eventually } from "../support/eventually.js";
import { freePort } from "../support/free-port.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs/guide/webhooks.md"), "utf8");

/** A receiver of docs/guide/webhooks.md. */
export interface DocumentedReceiver {
  readonly language: string;
  /** The name of its block in the page. */
  readonly block: string;
  readonly file: string;
  /** A command that succeeds if the language is installed. */
  readonly probe: readonly [string, ...string[]];
  /** The command that builds and runs it, in its folder. */
  readonly command: readonly [string, ...string[]];
}

/** The receivers of the page. */
export const documentedReceivers: readonly DocumentedReceiver[] = [
  {
    language: "TypeScript",
    block: "ts",
    file: "receiver.ts",
    probe: [process.execPath, "--version"],
    command: [process.execPath, "receiver.mjs"],
  },
  {
    language: "Python",
    block: "python",
    file: "receiver.py",
    probe: ["python3", "-c", "import sys; assert sys.version_info >= (3, 9)"],
    command: ["python3", "receiver.py"],
  },
  { language: "Go", block: "go", file: "receiver.go", probe: ["go", "version"], command: ["./receiver"] },
];

/** A running receiver. */
export interface RunningReceiver {
  readonly url: string;
  /** The lines that it printed: type, resource id and version of each accepted event. */
  readonly lines: readonly string[];
  stop(): void;
}

/** Whether the language of a receiver is installed. */
export function isInstalled({ probe: [program, ...args] }: DocumentedReceiver): boolean {
  try {
    execFileSync(program, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Runs a receiver of the page with a secret, as it stands there, and waits until it listens. */
export async function runReceiver(receiver: DocumentedReceiver, secret: string): Promise<RunningReceiver> {
  const port = await freePort();
  return runAt(port, receiver, secret);
}

/** Runs a receiver like {@link runReceiver} on a port that is known before its secret is. */
export async function runAt(port: number, receiver: DocumentedReceiver, secret: string): Promise<RunningReceiver> {
  const folder = join(root, "build", `receiver-${receiver.block}-${port}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, receiver.file), blockOf(receiver));
  if (receiver.block === "ts") await compile(folder);
  if (receiver.block === "go") execFileSync("go", ["build", "-o", "receiver", "receiver.go"], { cwd: folder });
  const [program, ...args] = receiver.command;
  const env = { PATH: process.env["PATH"], PORT: String(port), WEBHOOK_SECRET: secret };
  const child = spawn(program, args, { cwd: folder, env, stdio: ["ignore", "pipe", "ignore"] });
  const lines: string[] = [];
  createInterface(child.stdout).on("line", (line) => lines.push(line));
  const url = `http://127.0.0.1:${port}/`;
  await eventually(() => isUp(url));
  return {
    url,
    lines,
    stop() {
      child.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Removes the types; Node.js 20 does not run TypeScript. */
async function compile(folder: string): Promise<void> {
  const bundle = await rolldown({ input: join(folder, "receiver.ts"), platform: "node" });
  await bundle.write({ file: join(folder, "receiver.mjs"), format: "esm" });
  await bundle.close();
}

function blockOf({ block }: DocumentedReceiver): string {
  const code = new RegExp(`\`\`\`${block}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1];
  if (code === undefined) throw new Error(`docs/guide/webhooks.md has no block in ${block}`);
  return code;
}

async function isUp(url: string): Promise<boolean> {
  const headers = { "webhook-id": "none", "webhook-timestamp": "0", "webhook-signature": "v1,none" };
  const response = await fetch(url, { method: "POST", headers, body: "{}" }).catch(() => undefined);
  await response?.text();
  return response?.status === 400;
}
