import { create, createFileRegistry } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { createClient, createRouterTransport, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { describe, expect, test } from "vitest";
import { introspection, ServerReflection } from "../src/index.js";
import { LibraryService } from "./gen/library/v1/library_service_pb.js";
import { LoanService } from "./gen/library/v1/loan_service_pb.js";
import { answersTo, filesFor, type Question, servicesListed, type Version } from "./support/reflect.js";
import { startServer } from "./support/start-server.js";

const METHOD_OPTIONS = "google.protobuf.MethodOptions";
const published = [LibraryService, LoanService];
const served = [
  "grpc.health.v1.Health",
  "grpc.reflection.v1.ServerReflection",
  "grpc.reflection.v1alpha.ServerReflection",
  "library.v1.LibraryService",
  "library.v1.LoanService",
];
const inMemory = createRouterTransport(introspection({ services: published }));

describe.each<Version>(["v1", "v1alpha"])("reflection %s", (version) => {
  test("lists every service that is served", async () => {
    expect(await servicesListed(inMemory, version)).toEqual(served);
  });

  test.each(served)("returns %s with all its imports, its own file first", async (name) => {
    const [files = []] = await filesFor(inMemory, [{ case: "fileContainingSymbol", value: name }], version);
    const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: importsFirst(files) }));
    expect(registry.getService(name)?.methods.length).toBeGreaterThan(0);
    expect(files[0]?.service.map((service) => `${files[0]?.package}.${service.name}`)).toContain(name);
  });
});

describe("reflection", () => {
  const ask = (...questions: Question[]) => filesFor(inMemory, questions);

  test.each<[string, string, string]>([
    ["a message", "library.v1.Book", "book"],
    ["a field", "library.v1.Book.printed_at", "book"],
    ["a oneof", "library.v1.Book.place", "book"],
    ["a member of a oneof", "library.v1.Book.shelf", "book"],
    ["an enumeration within a message", "library.v1.Book.Genre", "book"],
    ["a value of it, beside it", "library.v1.Book.GENRE_NOVEL", "book"],
    ["a value of it, within it", "library.v1.Book.Genre.GENRE_NOVEL", "book"],
    ["an enumeration", "library.v1.Condition", "book"],
    ["a value of it, beside it", "library.v1.CONDITION_WORN", "book"],
    ["a method", "library.v1.LoanService.LendBook", "loan_service"],
    ["an extension", "library.v1.audience", "options"],
    ["an extension within a message", "library.v1.Colour.colour", "label"],
  ])("finds %s by its name", async (_, value, file) => {
    const [files] = await ask({ case: "fileContainingSymbol", value });
    expect(files?.[0]?.name).toBe(`library/v1/${file}.proto`);
  });

  test("finds a file by its name, and an import of it", async () => {
    for (const value of ["library/v1/library_service.proto", "google/protobuf/timestamp.proto"]) {
      const [files] = await ask({ case: "fileByFilename", value });
      expect(files?.[0]?.name).toBe(value);
    }
  });

  test.each([
    [METHOD_OPTIONS, 50_101, "options"],
    ["library.v1.Label", 100, "label"],
    ["library.v1.Label", 101, "label"],
  ])("finds the extension of %s with the number %d", async (containingType, extensionNumber, file) => {
    const [files] = await ask({ case: "fileContainingExtension", value: { containingType, extensionNumber } });
    expect(files?.[0]?.name).toBe(`library/v1/${file}.proto`);
  });

  test.each([
    ["library.v1.Label", [100, 101]],
    [METHOD_OPTIONS, [50_101]],
    ["library.v1.Book", []],
  ])("returns the numbers of all extensions of %s", async (value, extensionNumber) => {
    const answers = await answersTo(inMemory, [{ case: "allExtensionNumbersOfType", value }]);
    expect(answers).toMatchObject([{ value: { baseTypeName: value, extensionNumber } }]);
  });

  test("returns an imported file once per stream, and a requested file each time", async () => {
    const question: Question = { case: "fileByFilename", value: "library/v1/library_service.proto" };
    const [first, second] = await ask(question, question);
    expect(first?.length).toBeGreaterThan(1);
    expect(second?.map(({ name }) => name)).toEqual(["library/v1/library_service.proto"]);
  });

  test.each<Question>([
    { case: "fileByFilename", value: "hostile-marker.proto" },
    { case: "fileContainingSymbol", value: "library.v1.hostile-marker" },
    { case: "fileContainingSymbol", value: "library.v1" },
    { case: "fileContainingSymbol", value: "" },
    { case: "fileContainingSymbol", value: "__proto__" },
    { case: "fileContainingExtension", value: { containingType: METHOD_OPTIONS, extensionNumber: 1 } },
    { case: "fileContainingExtension", value: { containingType: "hostile-marker", extensionNumber: 1 } },
    { case: "allExtensionNumbersOfType", value: "hostile-marker" },
    { case: "allExtensionNumbersOfType", value: "library.v1.LoanService" },
  ])("answers not_found for $value", async (question) => {
    const value = { errorCode: 5, errorMessage: expect.not.stringContaining("hostile-marker") };
    expect(await answersTo(inMemory, [question])).toMatchObject([{ case: "errorResponse", value }]);
  });

  test("answers invalid_argument for a request without a query", async () => {
    const answers = await answersTo(inMemory, [{ case: undefined }]);
    expect(answers).toMatchObject([{ case: "errorResponse", value: { errorCode: 3 } }]);
  });

  test.each([
    ["gRPC", createGrpcTransport],
    ["Connect", (options: { baseUrl: string }) => createConnectTransport({ ...options, httpVersion: "2" })],
  ] as const)("works over %s on HTTP/2", async (_, createTransport) => {
    const baseUrl = await startServer({ routes: introspection({ services: published }) });
    expect(await servicesListed(createTransport({ baseUrl }))).toEqual(served);
  });

  test("ends its open streams when the server stops", async () => {
    const stopping = new AbortController();
    const routes = introspection({ services: published, stopping: stopping.signal });
    const transport = createGrpcTransport({ baseUrl: await startServer({ routes }) });
    expect(await countAnswers(transport, () => stopping.abort())).toBe(1);
  });
});

/**
 * Asks one question in a stream that the client does not end. Returns the number of answers when the server ends it.
 */
async function countAnswers(transport: Transport, onAnswer: () => void): Promise<number> {
  async function* questions() {
    yield { messageRequest: { case: "listServices", value: "" } } as const;
    await new Promise(() => undefined);
  }
  let count = 0;
  for await (const _ of createClient(ServerReflection, transport).serverReflectionInfo(questions())) {
    count += 1;
    onAnswer();
  }
  return count;
}

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
