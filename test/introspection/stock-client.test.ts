import { execFile, execFileSync } from "node:child_process";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { servedServices } from "../../src/services/services.js";
import { startTestService } from "../support/service.js";
import { removeFolder, temporaryFolder } from "../support/temporary-folder.js";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const PYTHON = "/usr/bin/python3";
const PACKAGES = "protobuf-compiler protobuf-compiler-grpc python3-protobuf python3-grpcio";
const PROBE = `protoc --version && command -v grpc_python_plugin && ${PYTHON} -c "import grpc, google.protobuf"`;
const protos = ["node_modules/@grpc/reflection/build/proto", "node_modules/grpc-health-check/proto"];
const CLIENT_MS = 60_000;

test.skipIf(!isThere())(
  `a Python gRPC client uses health and reflection with protoc's stubs only (needs ${PACKAGES})`,
  async () => {
    const [service, stubs] = await Promise.all([startTestService(), temporaryFolder()]);
    try {
      await generate(stubs);
      const script = join(root, "test/introspection/stock-client.py");
      const env = { ...process.env, PYTHONPATH: stubs, PYTHONDONTWRITEBYTECODE: "1" };
      const { stdout } = await run(PYTHON, [script, service.internalUrl], { env, timeout: CLIENT_MS });
      expect(stdout.trim().split("\n")).toEqual([
        "check SERVING",
        "watch SERVING",
        `services ${servedServices.length + 3}`,
        "methods RegisterPatient,UpdatePatient",
      ]);
    } finally {
      await Promise.all([service.close(), removeFolder(stubs)]);
    }
  },
  CLIENT_MS,
);

/**
 * Generates the stubs. Those of reflection are renamed, because their folder `grpc` would hide Python's package `grpc`.
 */
async function generate(stubs: string): Promise<void> {
  const includes = protos.map((path) => `-I${join(root, path)}`);
  const plugin = execFileSync("sh", ["-c", "command -v grpc_python_plugin"], { encoding: "utf8" }).trim();
  const outputs = [`--python_out=${stubs}`, `--grpc_out=${stubs}`, `--plugin=protoc-gen-grpc=${plugin}`];
  await run("protoc", [...includes, ...outputs, "health/v1/health.proto", "grpc/reflection/v1alpha/reflection.proto"]);
  await rename(join(stubs, "grpc"), join(stubs, "grpc_stubs"));
  await run("sed", ["-i", "s/^from grpc\\.reflection/from grpc_stubs.reflection/", ...(await grpcFiles(stubs))]);
}

async function grpcFiles(stubs: string): Promise<readonly string[]> {
  const { stdout } = await run("find", [join(stubs, "grpc_stubs"), "-name", "*.py"]);
  return stdout.trim().split("\n");
}

function isThere(): boolean {
  try {
    execFileSync("sh", ["-c", PROBE], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
