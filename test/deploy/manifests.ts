import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";

/** A Kubernetes object of a file. */
export interface Manifest {
  readonly file: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly [member: string]: unknown;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = join(root, "deploy/kubernetes");

/** Reads every object of deploy/kubernetes, except kustomize's own file. */
export function readManifests(): Manifest[] {
  return readdirSync(folder)
    .filter((file) => file !== "kustomization.yaml")
    .flatMap((file) =>
      parseAllDocuments(readFileSync(join(folder, file), "utf8")).map((each) => Object.assign(each.toJS(), { file })),
    );
}

/** Returns the object of a kind and name. Throws if there is none. */
export function manifestOf(kind: string, name = "cupo"): Manifest {
  const found = readManifests().find((each) => each.kind === kind && each.metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found;
}

/**
 * Checks objects against the Kubernetes schemas and returns the errors; empty if there is none. It writes each object
 * as a literal of its kind's TypeScript interface. The compiler then finds wrong types, missing members and unknown
 * members.
 */
export async function complaintsAbout(manifests: readonly Manifest[]): Promise<string> {
  const place = mkdtempSync(join(tmpdir(), "cupo-manifests-"));
  try {
    symlinkSync(join(root, "node_modules"), join(place, "node_modules"));
    writeFileSync(join(place, "manifests.mts"), manifests.map(asLiteral).join("\n"));
    const flags = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--types", ""];
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const run = promisify(execFile)(process.execPath, [tsc, ...flags, "manifests.mts"], { cwd: place });
    return (await run.catch(({ stdout }: { stdout: string }) => ({ stdout }))).stdout;
  } finally {
    rmSync(place, { recursive: true });
  }
}

function asLiteral({ file, ...manifest }: Manifest, index: number): string {
  const path = `kubernetes-models/${manifest.apiVersion}/${manifest.kind}`;
  return `// ${file}
import type { I${manifest.kind} as Kind${index} } from "${path}";
export const manifest${index}: Kind${index} = ${JSON.stringify(manifest)};`;
}
