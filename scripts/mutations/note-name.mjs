import { createHash } from "node:crypto";

/** Returns the name of the file with the recorded calls of a test file. */
export function noteName(testPath) {
  return `${createHash("sha1").update(testPath).digest("hex")}.json`;
}
