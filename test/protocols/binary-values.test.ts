import { randomUUID } from "node:crypto";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { type FieldMask, FieldMaskSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  RegisterPatientRequestSchema,
  UpdatePatientRequestSchema,
} from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { envelope, rpcFormats, sendCall } from "../support/raw-rpc.js";
import { registration } from "../support/registration.js";
import { startTestService, type TestService } from "../support/service.js";

const SERVICE = "/cupo.access.v1.PatientService";
const MOST = 2n ** 63n - 1n;

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

const binaryFormats = Object.entries(rpcFormats).filter(([, { isJson }]) => !isJson);

describe.each(binaryFormats)("%s accepts only binary values that JSON can represent:", (_, format) => {
  const send = async (method: string, message: Uint8Array) => {
    const headers = { authorization: `Bearer ${await service.token()}`, "idempotency-key": randomUUID() };
    const body = format.hasEnvelope ? envelope(message) : message;
    return sendCall(service.internalUrl, format, { path: `${SERVICE}/${method}`, headers, body });
  };

  test.each([
    ["nanos of -1", { seconds: 0n, nanos: -1 }],
    ["nanos of a second", { seconds: 0n, nanos: 1_000_000_000 }],
    ["the least nanos", { seconds: 0n, nanos: -(2 ** 31) }],
    ["the year 0", { seconds: -62_135_596_801n, nanos: 0 }],
    ["the year 10000", { seconds: 253_402_300_800n, nanos: 0 }],
    ["the most seconds", { seconds: MOST, nanos: 0 }],
    ["the least seconds", { seconds: -MOST - 1n, nanos: 0 }],
  ])("a timestamp with %s is invalid", async (_name, at) => {
    const outcome = await send("RegisterPatient", registrationWith({ consentGrantedAt: create(TimestampSchema, at) }));
    expect(outcome.code).toBe(Code.InvalidArgument);
    expect(outcome.problem).toMatchObject({ status: 422, code: "VALIDATION_FAILED" });
    expect(itemsIn(outcome.problem)).toEqual(["consentGrantedAt INVALID_DATE_TIME"]);
  });

  test("all violations are listed, in the order of the fields", async () => {
    const changes = { consentGrantedAt: create(TimestampSchema, { nanos: -1 }), fullName: "a\0b", email: "ana" };
    const { problem } = await send("RegisterPatient", registrationWith(changes));
    expect(itemsIn(problem)).toEqual([
      "fullName INVALID_VALUE",
      "email INVALID_EMAIL",
      "consentGrantedAt INVALID_DATE_TIME",
    ]);
  });

  test.each([[["Full_Name"]], [["fullName"]], [["full_name", ""]], [["a..b"]], [["full_name\0"]], [["9"]]])(
    "a mask of %j is invalid",
    async (paths) => {
      const { problem } = await send("UpdatePatient", updateWith(create(FieldMaskSchema, { paths })));
      expect(itemsIn(problem)).toEqual(["updateMask INVALID_FORMAT"]);
    },
  );

  test("a mask with unknown names is rejected, as in JSON", async () => {
    const { problem } = await send("UpdatePatient", updateWith(create(FieldMaskSchema, { paths: ["birth_date"] })));
    expect(itemsIn(problem)).toEqual(["updateMask INVALID_VALUE"]);
  });

  test("unknown field numbers are ignored, as protobuf requires", async () => {
    const unknown = new BinaryWriter().tag(2047, WireType.LengthDelimited).string("anything").finish();
    const sent = Buffer.concat([registrationWith({}), unknown]);
    expect(await send("RegisterPatient", sent)).toMatchObject({ status: 200, code: undefined });
  });

  test("a request with unknown fields equals one without them", async () => {
    const unknown = new BinaryWriter().tag(2047, WireType.Varint).int32(1).finish();
    const key = randomUUID();
    const message = registrationWith({});
    const headers = { authorization: `Bearer ${await service.token()}`, "idempotency-key": key };
    const sendBytes = (bytes: Uint8Array) =>
      sendCall(service.internalUrl, format, {
        path: `${SERVICE}/RegisterPatient`,
        headers,
        body: format.hasEnvelope ? envelope(bytes) : bytes,
      });
    expect((await sendBytes(message)).code).toBeUndefined();
    const replay = await sendBytes(Buffer.concat([message, unknown]));
    expect(replay.headers.get("idempotent-replayed")).toBe("true");
  });
});

test("none of this counts as an internal error", () => {
  expect(service.log.length).toBeGreaterThan(50);
  expect(service.log.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});

function registrationWith(changes: MessageInitShape<typeof RegisterPatientRequestSchema>): Uint8Array {
  const { consentGrantedAt, ...texts } = registration();
  const seconds = BigInt(Date.parse(consentGrantedAt) / 1000);
  const message = { ...texts, consentGrantedAt: create(TimestampSchema, { seconds }), ...changes };
  return toBinary(RegisterPatientRequestSchema, create(RegisterPatientRequestSchema, message));
}

function updateWith(updateMask: FieldMask): Uint8Array {
  const update = { patientId: randomUUID(), fullName: "Ana", phone: "12345", expectedVersion: 1, updateMask };
  return toBinary(UpdatePatientRequestSchema, create(UpdatePatientRequestSchema, update));
}

function itemsIn(problem: Readonly<Record<string, unknown>> | undefined): string[] {
  const errors = (problem?.["errors"] ?? []) as { readonly field: string; readonly code: string }[];
  return errors.map(({ field, code }) => `${field} ${code}`);
}
