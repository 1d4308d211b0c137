import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { fromJson, toBinary } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";
import { loadSync, type Options, type PackageDefinition } from "@grpc/proto-loader";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { requestExamples } from "../../src/openapi/examples/request-examples.js";
import { servedServices } from "../../src/services/services.js";
import { type ExampleCalls, exampleCalls, methodOf, startDemoService, unaryMethods } from "../openapi/example-calls.js";
import { createNodeGrpc, isMessage, type NodeGrpc, servicesIn, statusDetails } from "../support/node-grpc.js";
import type { TestService } from "../support/service.js";
import { removeFolder, temporaryFolder } from "../support/temporary-folder.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const PATIENTS = "cupo.access.v1.PatientService";

let folder: string;
let files: readonly string[];
let options: Options;
let definitions: PackageDefinition;
let service: TestService;
let examples: ExampleCalls;
let grpc: NodeGrpc;

beforeAll(async () => {
  folder = await temporaryFolder();
  await promisify(execFile)(process.execPath, [join(root, "scripts/export-protos.mjs"), folder]);
  const protos = join(folder, "protos");
  files = (await readdir(protos, { recursive: true })).filter((path) => path.endsWith(".proto"));
  options = { includeDirs: [protos], longs: String, enums: String };
  definitions = loadSync([...files], options);
  service = await startDemoService();
  examples = exampleCalls(service, requestExamples(service.now()));
  await examples.call("MaterializeSchedule");
});

/** A new token each time, because some examples advance the clock. */
beforeEach(async () => {
  grpc = createNodeGrpc(service.internalUrl, definitions, await examples.token());
});

afterEach(() => grpc.close());

afterAll(async () => {
  await Promise.all([service.close(), removeFolder(folder)]);
});

describe("proto-loader, with the output of proto:export,", () => {
  test("loads each file by itself", () => {
    expect(files.length).toBeGreaterThan(50);
    for (const file of files) expect(() => loadSync(file, options), file).not.toThrow();
  });

  test("finds all served services and methods", () => {
    const loaded = Array.from(servicesIn(definitions), ([name, methods]) => [name, Object.keys(methods).toSorted()]);
    const served = servedServices.map(({ service: { typeName, methods } }) => [
      typeName,
      methods.map(({ name }) => name).toSorted(),
    ]);
    expect(Object.fromEntries(loaded)).toEqual(Object.fromEntries(served));
  });
});

describe("grpc-js, with the definitions of proto-loader,", () => {
  test.each([...unaryMethods.keys()])("calls %s", async (name) => {
    const { parent, output } = methodOf(name);
    const response = await grpc.call(`${parent.typeName}.${name}`, await requestOf(name));
    const known = output.fields.map(({ localName }) => localName);
    expect(known).toEqual(expect.arrayContaining(Object.keys(response)));
  });

  test("receives a stream of events", async () => {
    const arrived = grpc.firstOf("cupo.clinic.v1.EventService.WatchEvents", { start: "OLDEST" }, (response) =>
      JSON.stringify(response).includes('"PATIENT"'),
    );
    expect(await arrived).toMatchObject({ events: expect.any(Array), cursor: expect.any(String) });
  });

  test("decodes the details of an error", async () => {
    const request = { ...(await requestOf("RegisterPatient")), email: "ana" };
    const error = await grpc.call(`${PATIENTS}.RegisterPatient`, request).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: status.INVALID_ARGUMENT });
    expect(detailsOf(statusDetails(error as never))).toEqual({
      "cupo.access.v1.Problem": expect.objectContaining({ status: 422, code: "VALIDATION_FAILED" }),
      "google.rpc.ErrorInfo": expect.objectContaining({ reason: "VALIDATION_FAILED", domain: "cupo" }),
      "google.rpc.BadRequest": {
        fieldViolations: [expect.objectContaining({ field: "email", reason: "INVALID_EMAIL" })],
      },
    });
  });
});

/** Returns the request of an example as proto-loader represents it: timestamps are messages, not strings. */
async function requestOf(name: string): Promise<object> {
  const method = methodOf(name);
  const bytes = toBinary(method.input, fromJson(method.input, await examples.request(name)));
  return grpc.method(`${method.parent.typeName}.${name}`).requestDeserialize(Buffer.from(bytes));
}

/** Returns the messages in a google.rpc.Status by type name. */
function detailsOf(bytes: Buffer): Record<string, object> {
  const { details } = decode("google.rpc.Status", bytes) as { details: { type_url: string; value: Buffer }[] };
  const named = details.map(({ type_url, value }) => [type_url.split("/").at(-1) ?? "", value] as const);
  return Object.fromEntries(named.map(([name, value]) => [name, decode(name, value)]));
}

function decode(name: string, bytes: Buffer): object {
  const definition = definitions[name];
  if (definition === undefined || !isMessage(definition)) throw new Error(`${name} is not in the export`);
  return definition.deserialize(bytes);
}
