import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createFileRegistry, createRegistry, type DescService, fromBinary, type Registry } from "@bufbuild/protobuf";
import { DurationSchema, FileDescriptorSetSchema, StructSchema } from "@bufbuild/protobuf/wkt";

const root = dirname(createRequire(import.meta.url).resolve("google-proto-files/package.json"));

/** Returns the files of Google's public APIs that have services with HTTP bindings, sorted. */
export function filesWithBindings(): string[] {
  const paths = readdirSync(join(root, "google"), { recursive: true, encoding: "utf8" });
  const protos = paths.filter((path) => path.endsWith(".proto")).map((path) => `google/${path.replaceAll("\\", "/")}`);
  return protos.toSorted().filter((path) => textOf(path).includes("option (google.api.http)"));
}

/** The services declared in files, and a registry of all types that they import. */
export interface GoogleServices {
  readonly services: readonly DescService[];
  readonly registry: Registry;
}

/** Returns the services declared in these files. buf compiles them with all imports. */
export function servicesOf(paths: readonly string[]): GoogleServices {
  const folder = mkdtempSync(join(tmpdir(), "google-protos-"));
  try {
    for (const path of withImports(paths)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      copyFileSync(join(root, path), join(folder, path));
    }
    const args = ["build", folder, "--as-file-descriptor-set", "--exclude-source-info", "--output", "-"];
    const bytes = execFileSync("node_modules/.bin/buf", args, { maxBuffer: 2 ** 30 });
    const types = createFileRegistry(fromBinary(FileDescriptorSetSchema, bytes));
    const declared = [...types.files].filter(({ proto }) => paths.includes(proto.name));
    return {
      services: declared.flatMap((file) => file.services),
      registry: createRegistry(types, DurationSchema, StructSchema),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function withImports(paths: readonly string[]): Set<string> {
  const found = new Set(paths);
  for (const path of found) {
    for (const [, imported = ""] of textOf(path).matchAll(/^\s*import\s+(?:public\s+)?"([^"]+)"/gm)) {
      if (!imported.startsWith("google/protobuf/") && existsSync(join(root, imported))) found.add(imported);
    }
  }
  return found;
}

function textOf(path: string): string {
  return readFileSync(join(root, path), "utf8");
}
