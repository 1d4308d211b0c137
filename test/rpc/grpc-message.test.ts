import { once } from "node:events";
import { createServer as createHttp1 } from "node:http";
import { createServer as createHttp2 } from "node:http2";
import type { AddressInfo } from "node:net";
import { Code, ConnectError, createContextValues } from "@connectrpc/connect";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { expect, onTestFinished, test } from "vitest";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { ProblemSchema } from "../../src/gen/cupo/access/v1/problem_pb.js";
import { EventService } from "../../src/gen/cupo/clinic/v1/event_service_pb.js";
import { ReferenceDataService } from "../../src/gen/cupo/clinic/v1/reference_data_service_pb.js";
import { createRpcHandler } from "../../src/rpc/handler.js";
import { statusDetails } from "../support/node-grpc.js";
import { shareTestService } from "../support/service.js";

const LIST = `/${ReferenceDataService.typeName}/ListLocations`;
const WATCH = `/${EventService.typeName}/WatchEvents`;
const messages = [
  "phone is required; 4 more, [a] = \"b\" & 'c'? /d:e@f+g#h",
  "El año de la niña está al 100 % (%3B no es un punto y coma)",
  "línea 1\nlínea 2\t😀\u007f",
  "  blanks at both ends ",
];
const wire = [
  "phone is required; 4 more, [a] = \"b\" & 'c'? /d:e@f+g#h",
  "El a%C3%B1o de la ni%C3%B1a est%C3%A1 al 100 %25 (%253B no es un punto y coma)",
  "l%C3%ADnea 1%0Al%C3%ADnea 2%09%F0%9F%98%80%7F",
  "%20%20blanks at both ends%20",
];

test.each(messages)("grpc-js receives the unchanged message: %j", async (message) => {
  const { host } = await listen(createHttp2, message);
  const unary = await failureOf(host, LIST);
  expect([unary.code, unary.details]).toEqual([Code.FailedPrecondition, message]);
  const stream = await failureOf(host, WATCH);
  expect([stream.code, stream.details]).toEqual([Code.FailedPrecondition, message]);
});

test.each(messages.map((message, index) => [message, wire[index]]))(
  "gRPC-Web encodes only %, blanks at both ends and non-printable or non-ASCII characters of %j",
  async (message, expected) => {
    const { host } = await listen(createHttp1, message);
    for (const path of [LIST, WATCH]) {
      expect(await trailerOf(host, path, {})).toContain(`\r\ngrpc-message: ${expected}\r\n`);
    }
  },
);

test("gRPC-Web sends an uncompressed trailer even if messages are compressed", async () => {
  const { host } = await listen(createHttp1, "ñ;".repeat(1_000));
  const trailer = await trailerOf(host, LIST, { "grpc-accept-encoding": "gzip" });
  expect(trailer.startsWith(`\r\ngrpc-message: ${"%C3%B1;".repeat(1_000)}`)).toBe(true);
});

test("the details that grpc-js receives are the detail of the Problem", async () => {
  const service = await shareTestService();
  onTestFinished(() => service.close());
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${await service.token()}`);
  metadata.set("idempotency-key", "key");
  const host = new URL(service.internalUrl).host;
  const failure = await failureOf(host, `/${PatientService.typeName}/RegisterPatient`, metadata);
  const details = statusDetails(failure).toString("base64");
  const error = findTrailerError(new Headers({ "grpc-status-details-bin": details }));
  const [{ detail } = {}] = error?.findDetails(ProblemSchema) ?? [];
  expect([failure.details, error?.rawMessage]).toEqual([detail, detail]);
  expect(detail).toContain("; ");
});

/** Starts a listener whose methods all fail with this message. */
async function listen(create: typeof createHttp1 | typeof createHttp2, message: string): Promise<{ host: string }> {
  const fail = () => {
    throw new ConnectError(message, Code.FailedPrecondition, { "x-first": "1" });
  };
  const answer = createRpcHandler({
    services: [
      { service: ReferenceDataService, implementation: { listLocations: fail } },
      { service: EventService, implementation: { watchEvents: fail } },
    ],
    translateErrors: () => (next) => next,
    headerInterceptors: () => [],
    interceptors: () => [],
    openValues: () => createContextValues(),
    validate: () => () => [],
    refuse: () => () => new Error("refused"),
    maxBodyBytes: 1_000,
    maxDepth: 16,
    maxTimeLimitMs: 10_000,
    maxStreamMs: 10_000,
  });
  const server = (create as typeof createHttp1)((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function failureOf(host: string, path: string, metadata = new Metadata()): Promise<ServiceError> {
  const client = new Client(host, credentials.createInsecure());
  onTestFinished(() => client.close());
  const same = (bytes: Buffer) => bytes;
  return new Promise((resolve, reject) => {
    const stream = client.makeServerStreamRequest(path, same, same, Buffer.alloc(0), metadata);
    stream.on("error", (error: ServiceError) => resolve(error));
    stream.on("end", () => reject(new Error(`${path} did not fail`)));
    stream.resume();
  });
}

/** Returns the trailer of an answer without messages, from its first line on. Throws if it is compressed. */
async function trailerOf(host: string, path: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const answer = await fetch(`http://${host}${path}`, {
    method: "POST",
    headers: { "content-type": "application/grpc-web+proto", ...headers },
    body: new Uint8Array(5),
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  expect([bytes.readUInt8(0), bytes.readUInt32BE(1)]).toEqual([0x80, bytes.length - 5]);
  return `\r\n${bytes.subarray(5).toString()}`;
}
