/**
 * Compares the protos with the last released contract, whose image is in proto/released. `check` fails if generated
 * code or JSON of a client of that release would break. It takes the image to check as an optional argument. `release`
 * writes the image of the version in package.json, which must not exist yet. The rules are buf's category FILE: in some
 * languages generated code is imported by file, so moving a message to another file breaks it.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = "proto/released";
const rules = JSON.stringify({ version: "v2", breaking: { use: ["FILE"] } });
const [command, image] = process.argv.slice(2);

if (command === "release") release(JSON.parse(readFileSync(`${root}/package.json`, "utf8")).version);
else if (command === "check") check(image ?? buildCurrent());
else throw new Error("say release or check");

function release(version) {
  const released = `${folder}/cupo-${version}.binpb`;
  if (existsSync(`${root}/${released}`)) throw new Error(`${released} is there: a release is not made twice`);
  mkdirSync(`${root}/${folder}`, { recursive: true });
  build(released);
  console.log(`wrote ${released}`);
}

function buildCurrent() {
  const current = "build/contract.binpb";
  build(current);
  return current;
}

function check(current) {
  buf(["breaking", current, "--against", `${folder}/${lastReleased()}`, "--exclude-imports", "--config", rules]);
}

function lastReleased() {
  const images = readdirSync(`${root}/${folder}`).filter((name) => name.endsWith(".binpb"));
  const last = images.toSorted(new Intl.Collator("en", { numeric: true }).compare).at(-1);
  if (last === undefined) throw new Error(`no image in ${folder}`);
  return last;
}

function build(target) {
  buf(["build", ".", "--path", "proto/cupo", "--exclude-source-info", "-o", target]);
}

function buf(parameters) {
  const program = `${root}/node_modules/@bufbuild/buf/bin/buf`;
  try {
    execFileSync(process.execPath, [program, ...parameters], { cwd: root, stdio: "inherit" });
  } catch ({ status }) {
    process.exit(status ?? 1);
  }
}
