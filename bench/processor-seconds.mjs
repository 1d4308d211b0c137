import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** How many ticks of the kernel's accounting a second has. */
const TICKS = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));

/** The processor time that a process has had so far, in seconds, to a hundredth or so. Linux only. */
export function processorSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  const [user, system] = fields.slice(11, 13).map(Number);
  return (user + system) / TICKS;
}
