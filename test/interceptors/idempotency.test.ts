import { create, toBinary } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import type { Principal } from "../../src/call.js";
import { notFound } from "../../src/errors.js";
import { CatalogService } from "../../src/gen/cupo/access/v1/catalog_service_pb.js";
import { PatientService } from "../../src/gen/cupo/access/v1/patient_service_pb.js";
import { DeskService } from "../../src/gen/cupo/clinic/v1/desk_service_pb.js";
import { EventService } from "../../src/gen/cupo/clinic/v1/event_service_pb.js";
import { PatientDirectoryService } from "../../src/gen/cupo/clinic/v1/patient_directory_service_pb.js";
import {
  type IdempotencyClaim,
  type IdempotentWork,
  idempotency,
  type Outcome,
  type RecordAccess,
} from "../../src/interceptors/idempotency.js";
import {
  callWith,
  correlationId,
  interceptorOf,
  refusal,
  requestOf,
  responseOf,
  run,
  tenantId,
} from "./run-interceptor.js";

const { registerPatient, updatePatient } = PatientService.method;
const { createCancellationReason, updateNoShowReason, updateCancellationReason } = CatalogService.method;
const first = create(registerPatient.output, { patient: { id: "first", version: 1 } });
const second = create(registerPatient.output, { patient: { id: "second", version: 1 } });
const stored = toBinary(registerPatient.output, first);

/** Creates a store that runs the work if `outcome` is EXECUTED, and records the claims. */
function fakeStore(outcome: Outcome = { kind: "EXECUTED" }) {
  const claims: IdempotencyClaim[] = [];
  const results: Uint8Array[] = [];
  const execute: IdempotentWork["execute"] = async (claim, _call, _principal, work) => {
    claims.push(claim);
    if (outcome.kind === "EXECUTED") results.push(await work());
    return outcome;
  };
  return { claims, results, execute, read };
}

const read: IdempotentWork["read"] = (_call, _principal, work) => work();
const recordAccess = async () => undefined;

describe("the claim", () => {
  test("contains the principal, the operation and the call", async () => {
    const call = callWith({ headers: { idempotencyKey: ["key-7"] }, principal: { id: "issuer client" } });
    const store = fakeStore();
    await run(idempotency(store, recordAccess), requestOf(registerPatient, {}, call));
    expect(store.claims).toEqual([
      {
        tenantId,
        principalId: "issuer client",
        operation: "cupo.access.v1.PatientService/RegisterPatient",
        key: "key-7",
        fingerprint: expect.objectContaining({ byteLength: 32 }),
        correlationId,
      },
    ]);
  });
});

describe("the fingerprint", () => {
  const registration = {
    documentType: "CC",
    documentNumber: "1",
    fullName: "Ana",
    phone: "12345",
    email: "a@example.com",
    consentGrantedAt: timestampFromDate(new Date("2026-01-15T15:00:00Z")),
  };
  const update = { patientId: "p", fullName: "Ana", phone: "12345", expectedVersion: 1 };
  const reason = { code: "A", name: "B", requiresComment: false, active: true };

  test("is equal for equal requests of different calls", async () => {
    const call = callWith({
      headers: { idempotencyKey: ["other"], authorization: ["Bearer other"] },
      principal: { id: "other", tenantId: "other", scopes: new Set(["other"]) },
    });
    expect(await fingerprintOf(requestOf(registerPatient, { ...registration }, call))).toBe(
      await fingerprintOf(requestOf(registerPatient, registration)),
    );
  });

  test("ignores unknown fields", async () => {
    const request = requestOf(registerPatient, registration);
    const known = await fingerprintOf(request);
    request.message.$unknown = [{ no: 99, wireType: WireType.Varint, data: new Uint8Array([1]) }];
    expect(await fingerprintOf(request)).toBe(known);
  });

  test.each<[string, Partial<typeof registration>]>([
    ["documentType", { documentType: "cc" }],
    ["documentNumber", { documentNumber: "01" }],
    ["fullName", { fullName: "Ana " }],
    ["phone", { phone: "12346" }],
    ["email", { email: "b@example.com" }],
    ["consentGrantedAt", { consentGrantedAt: timestampFromDate(new Date("2026-01-15T15:00:00.001Z")) }],
  ])("differs if %s differs", async (_, change) => {
    expect(await fingerprintOf(requestOf(registerPatient, { ...registration, ...change }))).not.toBe(
      await fingerprintOf(requestOf(registerPatient, registration)),
    );
  });

  test("differs between an absent, an empty and a false field", async () => {
    const { email: _, ...withoutEmail } = registration;
    const { active: __, ...withoutActive } = reason;
    const fingerprints = await Promise.all([
      fingerprintOf(requestOf(registerPatient, registration)),
      fingerprintOf(requestOf(registerPatient, withoutEmail)),
      fingerprintOf(requestOf(registerPatient, { ...registration, email: "" })),
      fingerprintOf(requestOf(createCancellationReason, reason)),
      fingerprintOf(requestOf(createCancellationReason, withoutActive)),
      fingerprintOf(requestOf(createCancellationReason, { ...reason, active: false })),
    ]);
    expect(new Set(fingerprints).size).toBe(fingerprints.length);
  });

  test("depends on the id in the path, the expected version and the update mask", async () => {
    const fingerprints = await Promise.all([
      fingerprintOf(requestOf(updatePatient, update)),
      fingerprintOf(requestOf(updatePatient, { ...update, patientId: "q" })),
      fingerprintOf(requestOf(updatePatient, { ...update, expectedVersion: 2 })),
      fingerprintOf(requestOf(updatePatient, { ...update, updateMask: { paths: [] } })),
      fingerprintOf(requestOf(updatePatient, { ...update, updateMask: { paths: ["phone"] } })),
      fingerprintOf(requestOf(updatePatient, { ...update, updateMask: { paths: ["full_name", "phone"] } })),
    ]);
    expect(new Set(fingerprints).size).toBe(fingerprints.length);
  });

  test("depends on the operation, even if the messages have the same bytes", async () => {
    expect(await fingerprintOf(requestOf(updateNoShowReason, { code: "A", expectedVersion: 1 }))).not.toBe(
      await fingerprintOf(requestOf(updateCancellationReason, { code: "A", expectedVersion: 1 })),
    );
  });

  test("depends on the organization and company of the token", async () => {
    const principals: Partial<Principal>[] = [
      {},
      { organizationId: tenantId },
      { companyId: tenantId },
      { organizationId: tenantId, companyId: tenantId },
    ];
    const fingerprints = await Promise.all(
      principals.map((principal) => fingerprintOf(requestOf(registerPatient, registration, callWith({ principal })))),
    );
    expect(new Set(fingerprints).size).toBe(principals.length);
  });

  async function fingerprintOf(request: Parameters<typeof run>[1]): Promise<string> {
    const store = fakeStore();
    await run(idempotency(store, recordAccess), request);
    return Buffer.from(store.claims[0]?.fingerprint ?? []).toString("hex");
  }
});

test("a stream takes no key and no transaction", () => {
  expect(idempotency(fakeStore(), recordAccess)(EventService.method.watchEvents)).toBeUndefined();
});

describe("a read operation", () => {
  const method = PatientDirectoryService.method.getPatient;

  test("takes no key and runs each time, in a transaction of the caller", async () => {
    const store = fakeStore({ kind: "REPLAY", response: stored, isOwn: false });
    const reads: unknown[] = [];
    const call = callWith({ headers: { idempotencyKey: [] } });
    const readStore: IdempotentWork = {
      ...store,
      read(...arrived) {
        reads.push(arrived.slice(0, 2));
        return read(...arrived);
      },
    };
    const { response, passed } = await run(idempotency(readStore, recordAccess), requestOf(method, {}, call), second);
    expect(passed).toHaveLength(1);
    expect(response.message).toBe(second);
    expect(reads).toEqual([[call, call.principal]]);
    expect(store.claims).toEqual([]);
    expect(call.responseHeaders).toEqual({});
  });
});

describe("a replay", () => {
  const ids: string[] = [];
  const remember: RecordAccess = async (_, { patientIds }) => void ids.push(...patientIds);
  const replay = { kind: "REPLAY", response: stored, isOwn: false } as const;

  test("that contains a patient writes an access record", async () => {
    ids.length = 0;
    await run(idempotency(fakeStore(replay), remember), requestOf(registerPatient, {}), first);
    expect(ids).toEqual(["first"]);
  });

  test("that contains the case of an appointment writes one for the patient of the appointment", async () => {
    const { closeCase } = DeskService.method;
    const shown = create(closeCase.output, { userAttentionCase: { appointmentId: "x" } });
    const response = toBinary(closeCase.output, shown);
    const appointments: string[] = [];
    const recordAppointments: RecordAccess = async (_, { appointmentIds }) => void appointments.push(...appointmentIds);
    await run(idempotency(fakeStore({ ...replay, response }), recordAppointments), requestOf(closeCase, {}), shown);
    expect(appointments).toEqual(["x"]);
  });

  test("fails if its access record cannot be written", async () => {
    const failing = { ...fakeStore(replay), read: () => Promise.reject(new Error("the database is away")) };
    await expect(run(idempotency(failing, remember), requestOf(registerPatient, {}), first)).rejects.toThrow("away");
  });

  test("of the call's own commit writes no access record, nor does one without a patient", async () => {
    ids.length = 0;
    await run(idempotency(fakeStore({ ...replay, isOwn: true }), remember), requestOf(registerPatient, {}), first);
    const response = toBinary(createCancellationReason.output, create(createCancellationReason.output));
    const other = requestOf(createCancellationReason, {});
    const unread = { ...fakeStore({ ...replay, response }), read: () => Promise.reject(new Error("nothing to read")) };
    await run(idempotency(unread, remember), other);
    expect(ids).toEqual([]);
  });
});

describe("the response", () => {
  test("to a new key is that of the operation, and its bytes are stored", async () => {
    const store = fakeStore();
    const { response, passed, call } = await run(
      idempotency(store, recordAccess),
      requestOf(registerPatient, {}),
      first,
    );
    expect(passed).toHaveLength(1);
    expect(response.message).toBe(first);
    expect(store.results).toEqual([stored]);
    expect(call.responseHeaders).toEqual({});
  });

  test("to a used key: the stored result is put on the call, and the response is marked as a replay", async () => {
    const store = fakeStore({ kind: "REPLAY", response: stored, isOwn: false });
    const { passed, call } = await run(idempotency(store, recordAccess), requestOf(registerPatient, {}), second);
    expect(passed).toHaveLength(1);
    expect(call.storedResponse).toEqual(stored);
    expect(call.responseHeaders).toEqual({ "Idempotent-Replayed": "true" });
  });

  test("of a call that finds its own commit is not marked", async () => {
    const store = fakeStore({ kind: "REPLAY", response: stored, isOwn: true });
    const { call } = await run(idempotency(store, recordAccess), requestOf(registerPatient, {}));
    expect(call.storedResponse).toEqual(stored);
    expect(call.responseHeaders).toEqual({});
  });

  test("is the stored one if another call finished first", async () => {
    const store: IdempotentWork = {
      read,
      async execute(_claim, _call, _principal, work) {
        await work();
        return { kind: "REPLAY", response: stored, isOwn: false };
      },
    };
    const { passed, call } = await run(idempotency(store, recordAccess), requestOf(registerPatient, {}), second);
    expect(passed).toHaveLength(2);
    expect(call.storedResponse).toEqual(stored);
  });

  test("is that of the last run if the work ran again", async () => {
    const store: IdempotentWork = {
      read,
      async execute(_claim, _call, _principal, work) {
        await work();
        await work();
        return { kind: "EXECUTED" };
      },
    };
    const request = requestOf(registerPatient, {});
    const answers = [first, second].values();
    const response = await interceptorOf(
      idempotency(store, recordAccess),
      registerPatient,
    )(async () => responseOf(request, answers.next().value ?? first))(request);
    expect(response.message).toBe(second);
  });

  test("to a key of another request is 409", async () => {
    const error = await refusal(
      run(idempotency(fakeStore({ kind: "REUSED" }), recordAccess), requestOf(registerPatient, {})),
    );
    expect(error.code).toBe("CONCURRENT_MODIFICATION");
    expect(error.errors).toEqual([
      {
        code: "IDEMPOTENCY_KEY_REUSED",
        field: "Idempotency-Key",
        message: "this key was used for another request of the same operation; use a new one",
      },
    ]);
    expect(error.headers).toEqual({});
  });

  test("to a key that another call is using is 409 with Retry-After", async () => {
    const store = fakeStore({ kind: "IN_PROGRESS" });
    const error = await refusal(run(idempotency(store, recordAccess), requestOf(registerPatient, {})));
    expect(error.code).toBe("CONCURRENT_MODIFICATION");
    expect(error.errors).toMatchObject([{ code: "IDEMPOTENCY_IN_PROGRESS", field: "Idempotency-Key" }]);
    expect(error.headers).toEqual({ "Retry-After": "1" });
  });

  test("is the error of the work, which the store receives", async () => {
    const thrown = notFound("gone");
    const store = fakeStore();
    const request = requestOf(registerPatient, {});
    const failing = interceptorOf(idempotency(store, recordAccess), registerPatient);
    await expect(failing(() => Promise.reject(thrown))(request)).rejects.toBe(thrown);
    expect(store.results).toEqual([]);
  });
});
