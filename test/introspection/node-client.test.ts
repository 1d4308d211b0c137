import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Client, credentials } from "@grpc/grpc-js";
import { loadFileDescriptorSetFromBuffer, loadSync, type PackageDefinition } from "@grpc/proto-loader";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { servedServices } from "../../src/services/services.js";
import { createNodeGrpc, servicesIn } from "../support/node-grpc.js";
import { shareTestService, type TestService } from "../support/service.js";

const served = servedServices.map(({ service }) => service);

interface FilesAnswer {
  readonly fileDescriptorResponse?: { readonly fileDescriptorProto: readonly Buffer[] };
}

let service: TestService;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

describe.each(["v1", "v1alpha"])("a client of protobufjs and grpc-js that uses only reflection %s", (version) => {
  test.each(served)("builds $typeName", async ({ typeName, methods }) => {
    const definitions = definitionsFrom(await filesFor(version, [typeName]));
    const names = Object.keys(servicesIn(definitions).get(typeName) ?? {});
    expect(names.toSorted()).toEqual(methods.map(({ name }) => name).toSorted());
  });

  test("builds all services from the answers of one stream", async () => {
    const definitions = definitionsFrom(
      await filesFor(
        version,
        served.map(({ typeName }) => typeName),
      ),
    );
    const built = [...servicesIn(definitions).keys()];
    expect(built.toSorted()).toEqual(served.map(({ typeName }) => typeName).toSorted());
  });

  test("calls an operation", async () => {
    const definitions = definitionsFrom(await filesFor(version, ["cupo.access.v1.CatalogService"]));
    const grpc = createNodeGrpc(service.internalUrl, definitions, await service.token());
    const payer = { code: `EPS-${version}`, name: "Salud Total", tax_id: "900123456", active: true };
    expect(await grpc.call("cupo.access.v1.CatalogService.CreatePayer", payer)).toMatchObject({ payer });
    grpc.close();
  });
});

/** Returns the files that reflection sends for symbols in one stream. */
async function filesFor(version: string, symbols: readonly string[]): Promise<readonly Buffer[]> {
  const reflection = loadSync(`grpc/reflection/${version}/reflection.proto`, {
    includeDirs: ["node_modules/@grpc/reflection/build/proto"],
  });
  const ask = servicesIn(reflection).get(`grpc.reflection.${version}.ServerReflection`)?.["ServerReflectionInfo"];
  if (ask === undefined) throw new Error(`there is no reflection ${version}`);
  const client = new Client(new URL(service.internalUrl).host, credentials.createInsecure());
  const stream = client.makeBidiStreamRequest(ask.path, ask.requestSerialize, ask.responseDeserialize);
  for (const fileContainingSymbol of symbols) stream.write({ fileContainingSymbol });
  stream.end();
  const files: Buffer[] = [];
  for await (const { fileDescriptorResponse } of stream as AsyncIterable<FilesAnswer>) {
    files.push(...(fileDescriptorResponse?.fileDescriptorProto ?? []));
  }
  client.close();
  return files;
}

function definitionsFrom(files: readonly Buffer[]): PackageDefinition {
  const file = files.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
  const set = create(FileDescriptorSetSchema, { file });
  return loadFileDescriptorSetFromBuffer(Buffer.from(toBinary(FileDescriptorSetSchema, set)));
}
