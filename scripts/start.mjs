/**
 * What `npm start` runs: builds where that is needed, then is the service, in this very process, which a signal reaches that is
 * meant for it. npm passes its signals on to a shell, and a shell to nobody: so this stops too where its parent is gone.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import module from "node:module";

const CHECK_MS = 500;
const isPosix = process.platform !== "win32";

await build();
/** From Node.js 22.8 on, what was compiled is kept for the next start. */
module.enableCompileCache?.("build/compile-cache");
if (process.env.npm_lifecycle_event === "start") stopWithParent(process.ppid);
process.argv.splice(2, 0, "serve", "--demo");
await import("../dist/main.js");

/** Builds in a process group of its own, all of which ends where this is told to stop meanwhile. */
async function build() {
  const builder = spawn(process.execPath, ["scripts/build-if-stale.mjs"], { stdio: "inherit", detached: isPosix });
  const stop = () => {
    if (builder.pid !== undefined) process.kill(isPosix ? -builder.pid : builder.pid);
    process.exit(1);
  };
  process.on("SIGTERM", stop).on("SIGINT", stop);
  const [code] = await once(builder, "exit");
  process.off("SIGTERM", stop).off("SIGINT", stop);
  if (code !== 0) process.exit(1);
}

function stopWithParent(parent) {
  const check = () => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
  };
  const timer = setInterval(check, CHECK_MS).unref();
}
