import { spawnSync } from "node:child_process";

const INTERVAL_MS = 500;
const BYTES_PER_KIB = 1_024;

/**
 * Watches the resident memory of a process until `stop`. `most` gives the most that was seen, in MB of 1,000,000 bytes.
 *
 * @param {number} pid
 */
export function sampleMemory(pid) {
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, residentMb(pid));
  }, INTERVAL_MS);
  return { most: () => most, stop: () => clearInterval(timer) };
}

/** 0 for a process that is gone: its absence is for the run to notice. */
function residentMb(pid) {
  const { stdout } = spawnSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" });
  return (Number(stdout) * BYTES_PER_KIB) / 1e6;
}
