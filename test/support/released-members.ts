import { readFileSync } from "node:fs";
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { registration } from "./registration.js";
import { lastRelease } from "./released-service.js";

/**
 * Returns changes for {@link registration} that omit the members that the last release does not know. That release
 * rejects unknown members.
 */
export function withoutNewMembers(): object {
  const image = new URL(`../../proto/released/cupo-${lastRelease().version}.binpb`, import.meta.url);
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(image)));
  const request = registry.getMessage("cupo.access.v1.RegisterPatientRequest");
  const known = new Set(request?.fields.map(({ jsonName }) => jsonName));
  const unknown = Object.keys(registration()).filter((name) => !known.has(name));
  return Object.fromEntries(unknown.map((name) => [name, undefined]));
}
