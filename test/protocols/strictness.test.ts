import { randomUUID } from "node:crypto";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { create, type MessageInitShape, toBinary, toJsonString } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RegisterPatientRequestSchema } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { envelope, type RawCall, type RawOutcome, type RpcFormat, rpcFormats, sendCall } from "../support/raw-rpc.js";
import { registration } from "../support/registration.js";
import { startTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";

type Patient = MessageInitShape<typeof RegisterPatientRequestSchema>;

const PATH = "/cupo.access.v1.PatientService/RegisterPatient";
const MARKER = "hostile-marker";
const KIB = 1024;
/** The default quality takes most of a second and compresses these bytes no better. */
const QUICKLY = { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } };

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

describe.each(Object.entries(rpcFormats))("%s", (_, format) => {
  const send = (call: RawCall, to = service) => sendCall(to.internalUrl, format, call);

  test("a valid call is answered", async () => {
    expect(await send(await goodCall(format))).toMatchObject({ status: 200, code: undefined });
  });

  describe("an undecodable message is a Problem that repeats nothing of it", () => {
    test.each(undecodable(format))("%s", async (_name, message) => {
      const outcome = await send(await callWith(format, message));
      expectRefusal(outcome, Code.InvalidArgument, "INVALID_REQUEST", 400);
      expect(outcome.everything).not.toContain(MARKER);
    });
  });

  describe("an undecodable message is reported after", () => {
    test("the token", async () => {
      for (const headers of [{}, { authorization: "Bearer x" }]) {
        for (const [, message] of undecodable(format)) {
          const call = { path: PATH, headers, body: framed(format, message) };
          expectRefusal(await send(call), Code.Unauthenticated, "INVALID_ACCESS_TOKEN", 401);
        }
      }
    });

    test("the quota, which it counts against", async () => {
      const limited = await startTestService({ RATE_LIMIT_PER_MINUTE: "2" });
      try {
        const headers = { authorization: `Bearer ${await limited.token()}`, "idempotency-key": "k" };
        const call = { path: PATH, headers, body: framed(format, noMessage(format)) };
        expect((await send(call, limited)).code).toBe(Code.InvalidArgument);
        expect((await send(call, limited)).code).toBe(Code.InvalidArgument);
        expectRefusal(await send(call, limited), Code.ResourceExhausted, "RATE_LIMIT_EXCEEDED", 429);
      } finally {
        await limited.close();
      }
    });

    test("the scope", async () => {
      const call = await callWith(format, noMessage(format), { scopes: [] });
      expectRefusal(await send(call), Code.PermissionDenied, "INSUFFICIENT_SCOPE", 403);
    });

    test("the headers", async () => {
      const { headers, ...call } = await callWith(format, noMessage(format));
      const outcome = await send({ ...call, headers: { ...headers, "idempotency-key": "" } });
      expectRefusal(outcome, Code.InvalidArgument, "INVALID_REQUEST", 400);
      expect(outcome.problem).toMatchObject({ errors: [{ code: "REQUIRED", field: "Idempotency-Key" }] });
    });
  });

  describe("a message of more than 64 KiB is resource_exhausted, with the Problem of a 400", () => {
    test("but not a shorter one", async () => {
      expect((await send(await callWith(format, padded(format, 64 * KIB)))).status).toBe(200);
    });

    test.each([64 * KIB + 1, 300 * KIB, 3 * KIB * KIB])("at %i bytes", async (length) => {
      expectTooLong(await send(await callWith(format, padded(format, length))));
    });

    test.each([
      ["gzip", (bytes: Uint8Array) => gzipSync(bytes)],
      ["br", (bytes: Uint8Array) => brotliCompressSync(bytes, QUICKLY)],
    ])("also if it is that long after %s", async (encoding, compress) => {
      const send64 = await compressed(format, encoding, compress(padded(format, 60 * KIB)));
      expect((await send(send64)).status).toBe(200);
      for (const length of [64 * KIB + 1, 30 * KIB * KIB]) {
        expectTooLong(await send(await compressed(format, encoding, compress(padded(format, length)))));
      }
    });

    test("but only after the token is checked", async () => {
      const call = { path: PATH, headers: {}, body: framed(format, padded(format, 300 * KIB)) };
      expectRefusal(await send(call), Code.Unauthenticated, "INVALID_ACCESS_TOKEN", 401);
    });
  });

  describe("a compression", () => {
    test("that does not match its header is an invalid argument", async () => {
      const outcome = await send(await compressed(format, "gzip", Buffer.from(MARKER)));
      expectRefusal(outcome, Code.InvalidArgument, "INVALID_REQUEST", 400);
    });

    test("that is unknown is unimplemented, with the supported ones, and its name is not repeated", async () => {
      const outcome = await send(await compressed(format, MARKER, Buffer.from("{}")));
      expect(outcome.code).toBe(Code.Unimplemented);
      expect(
        outcome.headers.get(format.encodingHeader.replace("content", "accept").replace("grpc-", "grpc-accept-")),
      ).toBe("gzip,br");
      expect(outcome.everything).not.toContain(MARKER);
    });
  });

  describe("a deadline", () => {
    test.each(format.hasEnvelope ? ["99999999H", "1H", "30001m"] : ["9999999999", "3600000", "30001"])(
      "of %s is reduced to the service's own",
      async (limit) => {
        const { headers, ...call } = await goodCall(format);
        const outcome = await send({ ...call, headers: { ...headers, [format.timeLimitHeader]: limit } });
        expect(outcome).toMatchObject({ status: 200, code: undefined });
      },
    );

    test.each([MARKER, "-1", "", "1.5", "99999999999999", "1S, 2S"])("of %j is rejected", async (limit) => {
      const { headers, ...call } = await goodCall(format);
      const outcome = await send({ ...call, headers: { ...headers, [format.timeLimitHeader]: limit } });
      expectRefusal(outcome, Code.InvalidArgument, "INVALID_REQUEST", 400);
      expect(JSON.stringify(outcome.problem).toLowerCase()).toContain(`"field":"${format.timeLimitHeader}"`);
      expect(outcome.everything).not.toContain(MARKER);
    });
  });
});

/** Returns undecodable bytes with a description of their defect. */
function undecodable(format: RpcFormat): [string, Uint8Array][] {
  const good = encoded(format, { fullName: MARKER });
  const cut: [string, Uint8Array] = ["an end too early", good.subarray(0, -1)];
  const notUtf8: [string, Uint8Array] = ["a text that is no UTF-8", replaced(good, MARKER.slice(0, 2), "\xff\xfe")];
  const surrogate: [string, Uint8Array] = ["a surrogate in UTF-8", replaced(good, MARKER.slice(0, 3), "\xed\xa0\x80")];
  if (format.isJson) return [["no JSON", noMessage(format)], ["nothing", Buffer.alloc(0)], cut, notUtf8, surrogate];
  const group = Buffer.alloc(60 * KIB, 0xfb);
  return [["no tag", noMessage(format)], ["groups without an end", group], cut, notUtf8, surrogate];
}

function noMessage({ isJson }: RpcFormat): Buffer {
  return Buffer.from(isJson ? `{"${MARKER}` : `\xff\xff\xff\xff\xff${MARKER}`, "latin1");
}

function replaced(bytes: Uint8Array, text: string, by: string): Buffer {
  return Buffer.from(Buffer.from(bytes).toString("latin1").replace(text, by), "latin1");
}

/** Returns a valid message of a given length, padded with blanks or an unknown field. */
function padded(format: RpcFormat, length: number): Uint8Array {
  const good = Buffer.from(encoded(format, {}));
  if (format.isJson) return Buffer.concat([good, Buffer.alloc(length - good.length, " ")]);
  const unknownBytes = (count: number) => {
    const size = [(count & 0x7f) | 0x80, ((count >> 7) & 0x7f) | 0x80, ((count >> 14) & 0x7f) | 0x80, count >> 21];
    return Buffer.concat([Buffer.from([0xfa, 0x7f, ...size]), Buffer.alloc(count)]);
  };
  return Buffer.concat([good, unknownBytes(length - good.length - 6)]);
}

function encoded({ isJson }: RpcFormat, changes: Patient): Buffer {
  const { consentGrantedAt, ...texts } = registration();
  const seconds = BigInt(Date.parse(consentGrantedAt) / 1000);
  const message = create(RegisterPatientRequestSchema, {
    ...texts,
    consentGrantedAt: create(TimestampSchema, { seconds }),
    ...changes,
  });
  const schema = RegisterPatientRequestSchema;
  return Buffer.from(isJson ? toJsonString(schema, message) : toBinary(schema, message));
}

function framed({ hasEnvelope }: RpcFormat, message: Uint8Array, flags = 0): Uint8Array {
  return hasEnvelope ? envelope(message, flags) : message;
}

async function compressed(format: RpcFormat, encoding: string, bytes: Uint8Array): Promise<RawCall> {
  const { headers, ...call } = await callWith(format, bytes);
  return { ...call, headers: { ...headers, [format.encodingHeader]: encoding }, body: framed(format, bytes, 1) };
}

async function goodCall(format: RpcFormat): Promise<RawCall> {
  return callWith(format, encoded(format, {}));
}

async function callWith(format: RpcFormat, message: Uint8Array, as: TokenFor = {}): Promise<RawCall> {
  const headers = { authorization: `Bearer ${await service.token(as)}`, "idempotency-key": randomUUID() };
  return { path: PATH, headers, body: framed(format, message) };
}

function expectTooLong(outcome: RawOutcome): void {
  expectRefusal(outcome, Code.ResourceExhausted, "INVALID_REQUEST", 400);
  expect(outcome.problem).toMatchObject({ detail: "The body is longer than 65536 bytes." });
}

function expectRefusal(outcome: RawOutcome, code: Code, problemCode: string, status: number): void {
  expect({ code: outcome.code, problem: outcome.problem }).toEqual({
    code,
    problem: expect.objectContaining({
      code: problemCode,
      status,
      correlationId: outcome.headers.get("x-correlation-id"),
    }),
  });
}
