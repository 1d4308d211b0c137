import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Checkout, layCheckout, processesWith } from "./support/checkout.js";
import { machineClock } from "./support/clock.js";
import { eventually } from "./support/eventually.js";
import { pidFile, removeFolder, temporaryFolder } from "./support/temporary-folder.js";

const reason = process.platform === "linux" ? "" : " (processes are looked for as Linux lists them)";

describe.skipIf(reason !== "")(`npm start${reason}`, () => {
  let checkout: Checkout;
  let dataDir: string;
  let npm: ChildProcess;

  beforeAll(async () => {
    checkout = await layCheckout();
    dataDir = await temporaryFolder();
  });

  afterEach(() => {
    for (const id of processesWith(`CUPO_DATA_DIR=${dataDir}`)) process.kill(id, "SIGKILL");
  });

  afterAll(async () => {
    await removeFolder(dataDir);
    checkout.remove();
  });

  test.each<[string, (ids: Ids) => void]>([
    ["SIGTERM for npm, as from a supervisor that knows nobody else", ({ npm: id }) => process.kill(id, "SIGTERM")],
    ["SIGTERM for the shell that npm runs it in", ({ shell }) => process.kill(shell, "SIGTERM")],
    ["SIGTERM for the service", ({ service }) => process.kill(service, "SIGTERM")],
    ["SIGINT for all of them, as from a keyboard", ({ npm: id }) => process.kill(-id, "SIGINT")],
    ["SIGHUP for all of them, as from a terminal that closes", ({ npm: id }) => process.kill(-id, "SIGHUP")],
    ["SIGHUP for the service", ({ service }) => process.kill(service, "SIGHUP")],
  ])("leaves no process and stops PostgreSQL after %s", async (_, end) => {
    npm = start();
    await printed(npm, "Demo tenant");
    expect(existsSync(pidFile(dataDir))).toBe(true);
    end(ids());
    await eventually(() => processesWith(dataDir).length === 0);
    expect(existsSync(pidFile(dataDir))).toBe(false);
  });

  /** Starts npm in its own process group, as a terminal does. */
  function start(): ChildProcess {
    const { PATH, HOME } = process.env;
    const settings = { CUPO_DATA_DIR: dataDir, PORT: "0", INTERNAL_PORT: "0", DRAIN_SECONDS: "0" };
    return spawn("npm", ["start"], {
      cwd: checkout.folder,
      env: { PATH, HOME, ...machineClock, ...settings },
      detached: true,
      stdio: ["ignore", "pipe", "inherit"],
    });
  }

  interface Ids {
    readonly npm: number;
    /** Equals `service` if the shell was replaced by the service's process. */
    readonly shell: number;
    readonly service: number;
  }

  function ids(): Ids {
    const isService = (id: number) => readFileSync(`/proc/${id}/cmdline`, "utf8").endsWith("\0scripts/start.mjs\0");
    const service = processesWith(dataDir).find(isService);
    if (npm.pid === undefined || service === undefined) throw new Error("npm start does not run");
    const parent = Number(/\) \w (\d+) /.exec(readFileSync(`/proc/${service}/stat`, "utf8"))?.[1]);
    return { npm: npm.pid, shell: parent === npm.pid ? service : parent, service };
  }
});

async function printed({ stdout }: ChildProcess, text: string): Promise<void> {
  if (stdout === null) throw new Error("the process has no output");
  for await (const line of createInterface(stdout)) {
    if (!line.includes(text)) continue;
    stdout.resume();
    return;
  }
  throw new Error(`it ended before it printed "${text}"`);
}
