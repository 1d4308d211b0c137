/**
 * Completes package-lock.json if npm ran against a registry that lacks packages for other platforms. npm omits such
 * packages, and `npm ci` rejects the lock file. Adds their entries, with the platform from the package name, and asks
 * the registry for the integrity of each entry without one. Lists the entries that still have none and exits with 1,
 * because npm installs those unverified.
 */
import { execFileSync } from "node:child_process";
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
const isOwn = ([key, { link }]) => link === true || !key.includes("node_modules/");
const completed = others.map(([key, entry]) => [key, isOwn([key, entry]) ? entry : withIntegrity(key, entry)]);
lock.packages = Object.fromEntries([root, ...completed.toSorted(([a], [b]) => (a < b ? -1 : 1))]);
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);

const left = completed.filter((each) => !isOwn(each) && each[1].integrity === undefined).map(([key]) => key);
if (left.length > 0) {
  console.error(`The registry has no integrity for:\n${left.join("\n")}`);
  process.exitCode = 1;
}

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

function withIntegrity(key, entry) {
  if (entry.integrity !== undefined) return entry;
  const { version, ...rest } = entry;
  const integrity = askRegistry(`${key.replace(/^.*node_modules\//, "")}@${version}`);
  return integrity === undefined ? entry : { version, integrity, ...rest };
}

function askRegistry(specifier) {
  try {
    const options = { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] };
    return execFileSync("npm", ["view", specifier, "dist.integrity"], options).trim() || undefined;
  } catch {
    return undefined;
  }
}
