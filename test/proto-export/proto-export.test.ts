import { execFile, execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { removeFolder, temporaryFolder } from "../support/temporary-folder.js";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const buf = join(root, "node_modules/@bufbuild/buf/bin/buf");
const PATH = [process.env["PATH"], join(root, "node_modules/.bin")].join(delimiter);
const env = { ...process.env, PATH };
const COMPILER_MS = 120_000;

/** Templates whose plugins can run here, with their requirements and one expected output file. */
const templates = [
  {
    language: "typescript",
    programs: [],
    packages: "nothing but npm's @bufbuild/protoc-gen-es",
    file: "cupo/clinic/v1/booking_service_pb.ts",
  },
  {
    language: "python",
    programs: ["protoc", "grpc_python_plugin"],
    packages: "protobuf-compiler-grpc",
    file: "cupo/clinic/v1/booking_service_pb2_grpc.py",
  },
  {
    language: "ruby",
    programs: ["protoc", "grpc_ruby_plugin"],
    packages: "protobuf-compiler-grpc",
    file: "cupo/clinic/v1/booking_service_services_pb.rb",
  },
  {
    language: "go",
    programs: ["protoc-gen-go", "protoc-gen-go-grpc"],
    packages: "protoc-gen-go protoc-gen-go-grpc",
    file: "cupo/clinic/v1/booking_service_grpc.pb.go",
  },
];

let folder: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  await run(process.execPath, [join(root, "scripts/export-protos.mjs"), folder]);
});

afterAll(() => removeFolder(folder));

describe("the output of proto:export", () => {
  test.skipIf(!areThere("protoc"))(
    "is accepted by protoc alone, as its README says (needs protobuf-compiler)",
    async () => {
      const [, commands = ""] =
        /^```sh\n(.*?protoc.*?)^```$/ms.exec(await readFile(join(folder, "README.md"), "utf8")) ?? [];
      await run("sh", ["-euc", commands], { cwd: folder });
      expect(existsSync(join(folder, "out/cupo/access/v1/patient_service_pb2.py"))).toBe(true);
    },
    COMPILER_MS,
  );

  for (const { language, programs, file, packages } of templates) {
    test.skipIf(!areThere(...programs))(
      `is accepted by buf generate with the template of ${language} (needs ${packages})`,
      async () => {
        await run(process.execPath, [buf, "generate", "--template", `buf.gen.${language}.yaml`], { cwd: folder, env });
        expect(existsSync(join(folder, "generated", language, file))).toBe(true);
      },
      COMPILER_MS,
    );
  }

  test("has a template for each language, and says which ones need remote plugins", async () => {
    const names = (await readdir(folder)).filter((name) => name.startsWith("buf.gen."));
    const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
    const remote = names.filter((_, index) => texts[index]?.includes("remote:"));
    expect(names.toSorted()).toEqual(
      [...templates.map(({ language }) => language), "remote"].map((name) => `buf.gen.${name}.yaml`).toSorted(),
    );
    expect(remote).toEqual(["buf.gen.remote.yaml"]);
  });
});

describe("the last released contract", () => {
  const check = (image: string) =>
    run(process.execPath, [join(root, "scripts/contract.mjs"), "check", image], { cwd: root });

  test("is kept by the current protos", async () => {
    await expect(check(await imageOf("kept.binpb"))).resolves.toBeDefined();
  });

  test.each([
    ["a field that changes its name", "cupo/access/v1/patient.proto", "full_name", "whole_name"],
    ["a field that is removed", "cupo/access/v1/patient.proto", /^ +optional string phone = \d+.*?;\n/ms, ""],
    ["a value that changes its name", "cupo/access/v1/patient.proto", "DECEASED = ", "DEAD = "],
    ["a method that is removed", "cupo/access/v1/patient_service.proto", /^ {2}rpc UpdatePatient.*?^ {2}\}\n/ms, ""],
  ])("is broken by %s", async (_, path, what, by) => {
    const file = join(folder, "protos", path);
    const text = await readFile(file, "utf8");
    expect(text.replace(what, by)).not.toBe(text);
    await writeFile(file, text.replace(what, by));
    const image = await imageOf("broken.binpb");
    await writeFile(file, text);
    await expect(check(image)).rejects.toMatchObject({ code: 100 });
  });

  async function imageOf(name: string): Promise<string> {
    const image = join(folder, name);
    await run(process.execPath, [buf, "build", "protos", "--path", "protos/cupo", "-o", image], { cwd: folder });
    return image;
  }
});

function areThere(...programs: readonly string[]): boolean {
  return programs.every((program) => {
    try {
      execFileSync("sh", ["-c", `command -v ${program}`], { stdio: "ignore", env });
      return true;
    } catch {
      return false;
    }
  });
}
