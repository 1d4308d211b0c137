/**
 * Implements `npm start`: builds if necessary, then runs the service in this process, so that signals to the process
 * reach it. npm sends its signals to a shell, which does not forward them. So this also stops when its parent process
 * ends.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import module from "node:module";

const CHECK_MS = 500;
const signals = ["SIGTERM", "SIGHUP", "SIGINT"];
const isPosix = process.platform !== "win32";

await build();
/** From Node.js 22.8 on, caches compiled code for the next start. */
module.enableCompileCache?.("build/compile-cache");
if (process.env.npm_lifecycle_event === "start") stopWithParent(process.ppid);
process.argv.splice(2, 0, "serve", "--demo");
await import("../dist/main.js");

/** Builds in a separate process group, which is ended as a whole if this process is stopped meanwhile. */
async function build() {
  const builder = spawn(process.execPath, ["scripts/build-if-stale.mjs"], { stdio: "inherit", detached: isPosix });
  const stop = () => {
    if (builder.pid !== undefined) process.kill(isPosix ? -builder.pid : builder.pid);
    process.exit(1);
  };
  for (const signal of signals) process.on(signal, stop);
  const [code] = await once(builder, "exit");
  for (const signal of signals) process.off(signal, stop);
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
