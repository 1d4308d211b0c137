import { fileURLToPath } from "node:url";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { loadFileDescriptorSetFromBuffer, loadSync, type PackageDefinition } from "@grpc/proto-loader";
import { describe, expect, test } from "vitest";
import { introspection } from "../src/index.js";
import { LibraryService } from "./gen/library/v1/library_service_pb.js";
import { LoanService } from "./gen/library/v1/loan_service_pb.js";
import { library } from "./support/library.js";
import { type NodeGrpc, openNodeGrpc, servicesIn } from "./support/node-grpc.js";
import { startServer } from "./support/start-server.js";

const services = [LibraryService, LoanService];
const names = services.map(({ typeName }) => typeName);
const healthProto = loadSync("health/v1/health.proto", {
  includeDirs: [protosOf("grpc-health-check/proto")],
  enums: String,
});

function protosOf(path: string): string {
  return fileURLToPath(new URL(`../../../node_modules/${path}`, import.meta.url));
}

interface FilesAnswer {
  readonly fileDescriptorResponse?: { readonly fileDescriptorProto: readonly Buffer[] };
}

async function start(): Promise<NodeGrpc> {
  const stopping = new AbortController();
  const url = await startServer({
    routes(router) {
      library(router);
      introspection({ services, stopping: stopping.signal, isServiceServing: (name) => name !== LoanService.typeName })(
        router,
      );
    },
  });
  return openNodeGrpc(url, () => stopping.abort());
}

describe("a health client of protobufjs and grpc-js", () => {
  const health = (method: string) => servicesIn(healthProto).get("grpc.health.v1.Health")?.[method];

  test("checks the server and each service", async () => {
    const grpc = await start();
    const check = (service: string) => grpc.call(health("Check"), { service });
    expect(await check("")).toEqual({ status: "SERVING" });
    expect(await check(LibraryService.typeName)).toEqual({ status: "SERVING" });
    expect(await check(LoanService.typeName)).toEqual({ status: "NOT_SERVING" });
    await expect(check("library.v1.Unknown")).rejects.toMatchObject({ code: 5 });
  });

  test("lists the statuses", async () => {
    const grpc = await start();
    const { statuses } = (await grpc.call(health("List"), {})) as { readonly statuses: Record<string, object> };
    expect(statuses[LibraryService.typeName]).toEqual({ status: "SERVING" });
    expect(statuses[LoanService.typeName]).toEqual({ status: "NOT_SERVING" });
    expect(Object.keys(statuses)).toHaveLength(6);
  });

  test("watches until the server stops", async () => {
    const grpc = await start();
    const received = [];
    for await (const response of grpc.stream(health("Watch"), [{ service: LibraryService.typeName }])) {
      received.push(response);
      grpc.stop();
    }
    expect(received).toEqual([{ status: "SERVING" }, { status: "NOT_SERVING" }]);
  });
});

describe.each(["v1", "v1alpha"])("a client of protobufjs and grpc-js that uses only reflection %s", (version) => {
  const proto = loadSync(`grpc/reflection/${version}/reflection.proto`, {
    includeDirs: [protosOf("@grpc/reflection/build/proto")],
  });
  const ask = servicesIn(proto).get(`grpc.reflection.${version}.ServerReflection`)?.["ServerReflectionInfo"];

  async function definitionsOf(grpc: NodeGrpc, symbols: readonly string[]): Promise<PackageDefinition> {
    const questions = symbols.map((fileContainingSymbol) => ({ fileContainingSymbol }));
    const files: Buffer[] = [];
    for await (const answer of grpc.stream(ask, questions)) {
      files.push(...((answer as FilesAnswer).fileDescriptorResponse?.fileDescriptorProto ?? []));
    }
    const file = files.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
    const set = toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }));
    return loadFileDescriptorSetFromBuffer(Buffer.from(set));
  }

  test.each(services)("builds $typeName", async ({ typeName, methods }) => {
    const definitions = await definitionsOf(await start(), [typeName]);
    const built = Object.keys(servicesIn(definitions).get(typeName) ?? {});
    expect(built.toSorted()).toEqual(methods.map(({ name }) => name).toSorted());
  });

  test("builds all services from the answers of one stream", async () => {
    const definitions = await definitionsOf(await start(), names);
    expect([...servicesIn(definitions).keys()].toSorted()).toEqual(names);
  });

  test("calls an operation", async () => {
    const grpc = await start();
    const definitions = await definitionsOf(grpc, [LoanService.typeName]);
    const lend = servicesIn(definitions).get(LoanService.typeName)?.["LendBook"];
    const lent = { title: "One", reader: "Ana" };
    expect(await grpc.call(lend, lent)).toMatchObject(lent);
  });
});
