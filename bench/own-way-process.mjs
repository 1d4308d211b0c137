import { fork } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { askProcess, PROFILE_ON_DEMAND } from "./ask-process.mjs";

const SERVICE = fileURLToPath(new URL("own-way-service.mjs", import.meta.url));

/**
 * Starts own-way-service.mjs, with a temporary data folder. Gives where its listeners are, a token for them, `ask`, which
 * profile-on-demand.mjs answers there, and `close`, which ends it and removes the folder.
 */
export async function startOwnWay() {
  const dataDir = await mkdtemp(join(tmpdir(), "cupo-own-way-"));
  const log = openSync(join(dataDir, "service.log"), "w");
  const child = fork(SERVICE, {
    execArgv: [`--import=${PROFILE_ON_DEMAND}`],
    env: { ...process.env, CUPO_DATA_DIR: dataDir },
    stdio: ["ignore", log, "inherit", "ipc"],
  });
  const exited = once(child, "exit");
  const close = async () => {
    if (child.connected) child.disconnect();
    await exited;
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const [addresses] = await Promise.race([once(child, "message"), exited.then(failed)]);
    return { ...addresses, ask: askProcess(child), close };
  } catch (error) {
    await close();
    throw error;
  }
}

function failed() {
  throw new Error("the service did not start");
}
