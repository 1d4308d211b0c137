/**
 * Puts the optional platform packages back into package-lock.json that npm left out, because the registry it was run
 * against does not carry them. Without their entries `npm ci` refuses the lock. Entries of other platforms are never
 * fetched, so name, version and platform are all they need.
 */
import { readFileSync, writeFileSync } from "node:fs";

const path = "package-lock.json";
const OS = ["android", "darwin", "freebsd", "linux", "openharmony", "win32", "windows"];
const CPU = ["arm64", "armv7", "arm", "x64", "ia32", "ppc64", "riscv64", "s390x"];

const lock = JSON.parse(readFileSync(path, "utf8"));
for (const [owner, entry] of Object.entries(lock.packages)) {
  const isDev = owner === "" ? false : entry.dev === true;
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const key = `node_modules/${name}`;
    if (lock.packages[key] === undefined) lock.packages[key] = entryOf(name, version, isDev);
  }
}
const [root, ...others] = Object.entries(lock.packages);
lock.packages = Object.fromEntries([root, ...others.toSorted(([a], [b]) => (a < b ? -1 : 1))]);
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);

function entryOf(name, version, isDev) {
  const os = OS.find((candidate) => name.includes(candidate));
  const cpu = CPU.find((candidate) => name.includes(candidate));
  if (os === undefined || cpu === undefined) throw new Error(`${name} does not name its platform`);
  return {
    version: version.replace(/^[\^~]/, ""),
    cpu: [cpu === "armv7" ? "arm" : cpu],
    ...(isDev ? { dev: true } : {}),
    optional: true,
    os: [os === "windows" ? "win32" : os],
  };
}
