import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { fromBinary } from "@bufbuild/protobuf";
import { type FileDescriptorSet, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

const root = fileURLToPath(new URL("../../../..", import.meta.url));

/** Compiles the protos of the tests with the comments in them. */
export function buildImage(): FileDescriptorSet {
  const paths = ["--path", "packages/connect-openapi/test/proto/museum"];
  const args = ["build", "--config", "packages/connect-openapi/buf.yaml", ...paths, "--as-file-descriptor-set"];
  const bytes = execFileSync("node_modules/.bin/buf", [...args, "--output", "-"], { cwd: root, maxBuffer: 2 ** 26 });
  return fromBinary(FileDescriptorSetSchema, bytes);
}
