/**
 * Writes one folder with all that compilers of protos need: Cupo's own, those of others that they import, and
 * google/rpc/error_details.proto, whose messages are details of errors; google/protobuf comes with every compiler. Beside them
 * templates for `buf generate`. The folder is named on the command line, else build/proto-export; what is in it is replaced.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const sources = ["proto", "build/proto", "node_modules/google-proto-files"].map((path) => join(root, path));
const target = resolve(process.argv[2] ?? join(root, "build/proto-export"));

const own = readdirSync(join(root, "proto/cupo"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".proto"))
  .map((path) => `cupo/${path}`);
const wanted = new Set([...own, "google/rpc/error_details.proto"]);

rmSync(join(target, "protos"), { recursive: true, force: true });
cpSync(join(root, "scripts/proto-export"), target, { recursive: true });
for (const path of wanted) {
  const source = sources.map((folder) => join(folder, path)).find(existsSync);
  if (source === undefined) throw new Error(`${path} is imported and nowhere to be found`);
  const copy = join(target, "protos", path);
  mkdirSync(dirname(copy), { recursive: true });
  cpSync(source, copy);
  for (const [, imported] of readFileSync(source, "utf8").matchAll(/^import (?:public |weak )?"([^"]+)";/gm)) {
    if (!imported.startsWith("google/protobuf/")) wanted.add(imported);
  }
}
console.log(`${wanted.size} protos are in ${target}`);
