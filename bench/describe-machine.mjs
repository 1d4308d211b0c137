import { cpus, totalmem } from "node:os";

/** The day, the machine and the Node.js that figures are of, on one line. */
export function describeMachine() {
  const day = new Date().toISOString().slice(0, 10);
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${day}, ${cpus().length} × ${cpus()[0].model.trim()}, ${memory} GiB, Node.js ${process.versions.node}`;
}
