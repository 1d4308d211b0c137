import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { create, createFileRegistry, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createAsyncIterable } from "@connectrpc/connect/protocol";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { ServerReflection, ServerReflectionAlpha } from "@cupo/connect-introspection";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { file_cupo_options_v1_options as optionsFile } from "../../src/gen/cupo/options/v1/options_pb.js";
import { servedServices } from "../../src/services/services.js";
import { startTestService, type TestService } from "../support/service.js";

type Question = NonNullable<
  MessageInitShape<typeof ServerReflection.method.serverReflectionInfo.input>["messageRequest"]
>;

const root = fileURLToPath(new URL("../..", import.meta.url));
const BUF_MS = 60_000;
const METHOD_OPTIONS = "google.protobuf.MethodOptions";
const beside = [
  "grpc.health.v1.Health",
  "grpc.reflection.v1.ServerReflection",
  "grpc.reflection.v1alpha.ServerReflection",
];
const served = [...servedServices.map(({ service: { typeName } }) => typeName), ...beside].toSorted();

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

describe.each([
  ["v1", ServerReflection],
  ["v1alpha", ServerReflectionAlpha],
] as const)("reflection %s without a token", (_, description) => {
  test("lists every service that is served", async () => {
    expect(await namesListed(description)).toEqual(served);
  });

  test.each(served)("returns %s with all its imports", async (name) => {
    const [files = []] = await filesFor(description, [{ case: "fileContainingSymbol", value: name }]);
    const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: importsFirst(files) }));
    expect(registry.getService(name)?.methods.length).toBeGreaterThan(0);
  });
});

describe("reflection", () => {
  const ask = (...questions: Question[]) => filesFor(ServerReflection, questions);

  test("finds an extension by its number, and the numbers of all extensions", async () => {
    const { number = 0 } = optionsFile.extensions.find(({ extendee }) => extendee.typeName === METHOD_OPTIONS) ?? {};
    const value = { containingType: METHOD_OPTIONS, extensionNumber: number };
    const [files] = await ask({ case: "fileContainingExtension", value });
    expect(files?.[0]?.name).toBe("cupo/options/v1/options.proto");
    const answers = await answersTo(ServerReflection, [{ case: "allExtensionNumbersOfType", value: METHOD_OPTIONS }]);
    expect(answers).toMatchObject([
      { value: { baseTypeName: METHOD_OPTIONS, extensionNumber: expect.arrayContaining([number, 72_295_728]) } },
    ]);
  });

  test("works over Connect on HTTP/2 too", async () => {
    const transport = createConnectTransport({ baseUrl: service.internalUrl, httpVersion: "2" });
    const asked = createAsyncIterable([{ messageRequest: { case: "listServices", value: "" } } as const]);
    for await (const { messageResponse } of createClient(ServerReflection, transport).serverReflectionInfo(asked)) {
      expect(messageResponse.case).toBe("listServicesResponse");
    }
  });

  test(
    "can be disabled without affecting health checks",
    async () => {
      const own = await startTestService({ GRPC_REFLECTION: "off" });
      try {
        await expect(namesListed(ServerReflection, own.internalUrl)).rejects.toMatchObject({ code: 12 });
        expect(await curl(["--list-services"], own.internalUrl).catch(() => "refused")).toBe("refused");
        const health = await fetch(`${own.internalUrl}/grpc.health.v1.Health/Check`, json({}));
        expect(await health.json()).toEqual({ status: "SERVING" });
      } finally {
        await own.close();
      }
    },
    BUF_MS,
  );
});

describe("buf curl without local proto files", () => {
  test(
    "lists services and methods",
    async () => {
      expect((await curl(["--list-services"])).trim().split("\n").toSorted()).toEqual(served);
      expect(await curl(["--list-methods"])).toContain("cupo.clinic.v1.BookingService/BookAppointment\n");
    },
    BUF_MS,
  );

  test(
    "calls an operation",
    async () => {
      const headers = ["-H", `Authorization: Bearer ${await service.token()}`, "-H", "Idempotency-Key: curl-1"];
      const body = { code: "EPS-9", name: "Salud Total", taxId: "900123456", active: true };
      const path = "cupo.access.v1.CatalogService/CreatePayer";
      const answer = JSON.parse(await curl([...headers, "-d", JSON.stringify(body)], `${service.internalUrl}/${path}`));
      expect(answer.payer).toMatchObject(body);
    },
    BUF_MS,
  );
});

/** Sorts files so that each one follows its imports. */
function importsFirst(files: readonly FileDescriptorProto[]): FileDescriptorProto[] {
  const ordered = new Set<FileDescriptorProto>();
  const put = (name: string) => {
    const file = files.find((each) => each.name === name);
    if (file === undefined || ordered.has(file)) return;
    for (const imported of file.dependency) put(imported);
    ordered.add(file);
  };
  for (const { name } of files) put(name);
  return [...ordered];
}

async function curl(options: readonly string[], url = service.internalUrl): Promise<string> {
  const buf = `${root}/node_modules/@bufbuild/buf/bin/buf`;
  const protocol = ["--protocol", "grpc", "--http2-prior-knowledge"];
  const { stdout } = await promisify(execFile)(process.execPath, [buf, "curl", ...protocol, ...options, url], {
    cwd: "/",
  });
  return stdout;
}

function json(body: object): RequestInit {
  return { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}

type Reflection = typeof ServerReflection | typeof ServerReflectionAlpha;

async function answersTo(description: Reflection, questions: readonly Question[], baseUrl = service.internalUrl) {
  const { serverReflectionInfo } = createClient(description, createGrpcTransport({ baseUrl }));
  const asked = createAsyncIterable(questions.map((messageRequest) => ({ messageRequest })));
  const answers = [];
  for await (const { messageResponse } of serverReflectionInfo(asked as never)) answers.push(messageResponse);
  return answers;
}

async function namesListed(description: Reflection, baseUrl?: string): Promise<string[]> {
  const [answer] = await answersTo(description, [{ case: "listServices", value: "" }], baseUrl);
  return answer?.case === "listServicesResponse" ? answer.value.service.map(({ name }) => name) : [];
}

async function filesFor(description: Reflection, questions: readonly Question[]) {
  const answers = await answersTo(description, questions);
  return answers.map((answer) =>
    answer.case === "fileDescriptorResponse"
      ? answer.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes))
      : [],
  );
}
