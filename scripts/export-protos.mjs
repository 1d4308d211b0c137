/**
 * Writes all files that a proto compiler needs into one folder: Cupo's protos, those that they import, and
 * google/rpc/status.proto and error_details.proto, with which clients read the details of errors. Compilers bring
 * google/protobuf. Adds templates for `buf generate`. The argument names the folder, by default build/proto-export.
 * Replaces protos in it.
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
const wanted = new Set([...own, "google/rpc/status.proto", "google/rpc/error_details.proto"]);

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
