import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BookingService } from "../../src/gen/cupo/clinic/v1/booking_service_pb.js";
import * as fixtures from "../contract/fixtures.js";
import {
  type AppointmentBody,
  appointmentIn,
  awaitStep,
  bookFirst,
  type Clinic,
  call,
  day,
  mustCall,
  openClinic,
} from "../schedule/clinic.js";
import { closeConsistent, foundByTheService } from "../schedule/invariants.js";
import { auditOf } from "../support/audit.js";
import { messagesOf } from "../support/problem.js";
import { callRpc, type RpcChanges } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { expectRefusal } from "./rpc-under-test.js";

const { correctAppointmentStatus } = BookingService.method;
const NOT_ALLOWED = ["appointmentId STATE_NOT_ALLOWED"];
const REASON = "Se marcó a otra persona.";

const WAYS: Readonly<Record<string, readonly string[]>> = {
  PENDING: [],
  CONFIRMED: ["ConfirmAppointment"],
  CHECKED_IN: ["ConfirmAppointment", "CheckInAppointment"],
  ATTENDED: ["ConfirmAppointment", "CheckInAppointment", "MarkAppointmentAttended"],
  CANCELLED: ["CancelAppointment"],
  NO_SHOW: ["ConfirmAppointment", "MarkAppointmentNoShow"],
};

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => closeConsistent(service, foundByTheService));

describe("200", () => {
  test.each([
    ["CHECKED_IN", "CONFIRMED"],
    ["ATTENDED", "CHECKED_IN"],
    ["NO_SHOW", "CONFIRMED"],
  ])(
    "corrects an appointment from %s to %s, in one transaction with its history and one audit row",
    async (from, to) => {
      const clinic = await openClinic(service);
      const before = await bring(from, clinic);
      const answer = await correct(clinic, before, to);
      expect(appointmentIn(answer)).toMatchObject({
        appointmentId: before.appointmentId,
        status: to,
        version: before.version + 1,
      });
      expect(appointmentIn(answer)).not.toHaveProperty("noShowReasonId");
      expect(appointmentIn(answer)).not.toHaveProperty("comment");
      expect(await lastChange(clinic, before.appointmentId)).toMatchObject({
        fromStatus: from,
        toStatus: to,
        version: before.version + 1,
        correctionReason: REASON,
      });
      expect(await auditOf(service, answer)).toMatchObject([
        {
          action: "UPDATE",
          resource_type: "Appointment",
          resource_id: before.appointmentId,
          resource_version: before.version + 1,
        },
      ]);
    },
  );

  test("of a no-show lets the visit continue as if nothing had happened", async () => {
    const clinic = await openClinic(service);
    const before = await bring("NO_SHOW", clinic);
    await correct(clinic, before, "CONFIRMED");
    const step = { appointmentId: before.appointmentId };
    await mustCall(clinic, "CheckInAppointment", { ...step, expectedVersion: 4 });
    const { appointment } = await mustCall(clinic, "MarkAppointmentAttended", { ...step, expectedVersion: 5 });
    expect(appointment).toMatchObject({ status: "ATTENDED", displaced: false });
  });

  test("of a no-show makes its slot again if it was removed", async () => {
    const clinic = await openClinic(service);
    const before = await bring("NO_SHOW", clinic);
    await service.query(
      `DELETE FROM slots WHERE program_id = '${clinic.programId}' AND starts_at = '${before.startsAt}'`,
    );
    expect(appointmentIn(await correct(clinic, before, "CONFIRMED"))).toMatchObject({ displaced: false });
  });

  test("of a no-show makes its slot again under a block, which displaces it", async () => {
    const clinic = await openClinic(service);
    const before = await bring("NO_SHOW", clinic);
    const { startsAt, practitionerId } = before;
    const endsAt = new Date(service.now() + 3_600_000).toISOString();
    await mustCall(clinic, "CreateScheduleBlock", { practitionerId, kind: "ILLNESS", startsAt, endsAt });
    await service.query(`DELETE FROM slots WHERE program_id = '${clinic.programId}' AND starts_at = '${startsAt}'`);
    const displaced = { displaced: true, displacedBy: "BLOCK", displacementAccepted: false };
    expect(appointmentIn(await correct(clinic, before, "CONFIRMED"))).toMatchObject(displaced);
  });

  test("of a no-show keeps its time beside slots that the rules now have there", async () => {
    const clinic = await openClinic(service);
    const before = await bring("NO_SHOW", clinic);
    const slots = `program_id = '${clinic.programId}' AND starts_at = '${before.startsAt}'`;
    const sooner = new Date(Date.parse(before.endsAt) - 10 * 60_000).toISOString();
    await service.query(`UPDATE slots SET ends_at = '${sooner}' WHERE ${slots}`);
    expect(appointmentIn(await correct(clinic, before, "CONFIRMED"))).toMatchObject({ displaced: true });
  });

  test("works for a patient who is no longer active", async () => {
    const clinic = await openClinic(service);
    const before = await bring("ATTENDED", clinic);
    await mustCall(clinic, "SetPatientStatus", { patientId: before.patientId, status: "DECEASED", expectedVersion: 1 });
    expect((await correct(clinic, before, "CHECKED_IN")).status).toBe(200);
  });

  test("is done once per key, and replayed", async () => {
    const clinic = await openClinic(service);
    const before = await bring("CHECKED_IN", clinic);
    const headers = { "idempotency-key": randomUUID() };
    const answers = [];
    for (let i = 0; i < 2; i += 1) answers.push(await correct(clinic, before, "CONFIRMED", {}, { headers }));
    const [first, second] = answers;
    expect(second?.text).toBe(first?.text);
    expect(second?.headers.get("idempotent-replayed")).toBe("true");
  });
});

describe("409", () => {
  const pairs = Object.keys(WAYS).flatMap((from) => ["CONFIRMED", "CHECKED_IN"].map((to) => [from, to] as const));
  const allowed = new Set(["CHECKED_IN CONFIRMED", "ATTENDED CHECKED_IN", "NO_SHOW CONFIRMED"]);

  test.each(pairs.filter((pair) => !allowed.has(pair.join(" "))))("does not correct %s to %s", async (from, to) => {
    const clinic = await openClinic(service);
    expectRefusal(await correct(clinic, await bring(from, clinic), to), 409, NOT_ALLOWED);
  });

  test.each([
    ["ATTENDED", "the appointment is ATTENDED, which cannot be taken back to CONFIRMED, only to CHECKED_IN"],
    ["PENDING", "the appointment is PENDING, which cannot be taken back to CONFIRMED"],
  ])("says to which status %s can be corrected, if to any", async (from, message) => {
    const clinic = await openClinic(service);
    expect(messagesOf(await correct(clinic, await bring(from, clinic), "CONFIRMED"))).toEqual([message]);
  });

  test("names the current version if another one was sent", async () => {
    const clinic = await openClinic(service);
    const before = await bring("CHECKED_IN", clinic);
    const stale = await correct(clinic, before, "CONFIRMED", { expectedVersion: 2 });
    expectRefusal(stale, 409, ["expectedVersion STALE_VERSION"]);
  });

  test("rejects an appointment whose patient was erased", async () => {
    const clinic = await openClinic(service);
    const before = await bring("NO_SHOW", clinic);
    const { patientId, version } = before;
    await mustCall(clinic, "ErasePatient", { patientId, expectedVersion: 1, reason: "Radicado 7" });
    const erased = { ...before, version: version + 1 };
    expectRefusal(await correct(clinic, erased, "CONFIRMED"), 409, NOT_ALLOWED);
  });

  test("rejects a no-show if its day is full now, until another appointment is cancelled", async () => {
    const clinic = await openClinic(service, { rule: { dailyCapacity: 1 } });
    const before = await bring("NO_SHOW", clinic);
    const other = await bookFirst(clinic, await fixtures.createPatient(service), today(clinic));
    expectRefusal(await correct(clinic, before, "CONFIRMED"), 409, ["appointmentId CAPACITY_EXHAUSTED"]);
    await cancel(clinic, other);
    expect((await correct(clinic, before, "CONFIRMED")).status).toBe(200);
  });

  test.each([
    ["SLOT_OCCUPIED", "the practitioner"],
    ["PATIENT_OVERLAP", "the patient"],
  ])("%s rejects a no-show if %s has another appointment at its time now", async (code, who) => {
    const clinic = await openClinic(service);
    const { practitionerIds } = clinic;
    const late = { startsAtLocal: "08:20", endsAtLocal: "12:20" };
    const shared = who === "the practitioner" ? { practitionerIds } : {};
    const elsewhere = await openClinic(service, { rule: late, ...shared });
    const before = await bring("NO_SHOW", clinic);
    const patientId = who === "the patient" ? before.patientId : await fixtures.createPatient(service);
    const other = await bookFirst(elsewhere, patientId, today(elsewhere));
    expect(Date.parse(other.startsAt) - Date.parse(before.startsAt)).toBe(20 * 60_000);
    expectRefusal(await correct(clinic, before, "CONFIRMED"), 409, [`appointmentId ${code}`]);
  });
});

describe("422", () => {
  test("requires a status that can be restored, and a reason that may be stored", async () => {
    const appointmentId = randomUUID();
    const all = ["appointmentId REQUIRED", "expectedVersion REQUIRED", "status REQUIRED", "reason REQUIRED"];
    expectRefusal(await callRpc(service, correctAppointmentStatus), 422, all);
    const request = { appointmentId, expectedVersion: 1, status: "CONFIRMED", reason: REASON };
    for (const [changes, item] of [
      [{ status: "ATTENDED" }, "status INVALID_VALUE"],
      [{ status: "NO_SHOW" }, "status INVALID_VALUE"],
      [{ reason: "" }, "reason TOO_SHORT"],
      [{ reason: "x".repeat(501) }, "reason TOO_LONG"],
      [{ reason: "Diagnóstico: diabetes mellitus." }, "reason CONTAINS_DIAGNOSIS"],
    ] as const) {
      expectRefusal(await callRpc(service, correctAppointmentStatus, { ...request, ...changes }), 422, [item]);
    }
  });
});

/** Books a new appointment of the clinic and brings it to a status. */
async function bring(status: string, clinic: Clinic): Promise<AppointmentBody> {
  let appointment = await bookFirst(clinic, await fixtures.createPatient(clinic.service, {}, clinic.as));
  for (const rpc of WAYS[status] ?? []) {
    awaitStep(clinic, rpc, appointment);
    const { appointmentId, version: expectedVersion } = appointment;
    const request = { appointmentId, expectedVersion, ...(await reasonOf(rpc, clinic)) };
    appointment = appointmentIn(await call(clinic, rpc, request));
  }
  return appointment;
}

async function reasonOf(rpc: string, { service: at, as }: Clinic): Promise<JsonObject> {
  if (rpc === "MarkAppointmentNoShow")
    return { noShowReasonId: await fixtures.noShowReason.create(at, as), comment: "No contestó." };
  if (rpc === "CancelAppointment") return { cancellationReasonId: await fixtures.cancellationReason.create(at, as) };
  return {};
}

function requestFor({ appointmentId, version: expectedVersion }: AppointmentBody, status: string): JsonObject {
  return { appointmentId, expectedVersion, status, reason: REASON };
}

function correct(
  { service: at, as }: Clinic,
  appointment: AppointmentBody,
  status: string,
  request: JsonObject = {},
  changes: RpcChanges = {},
) {
  return callRpc(at, correctAppointmentStatus, { ...requestFor(appointment, status), ...request }, { as, ...changes });
}

async function cancel(clinic: Clinic, { appointmentId, version: expectedVersion }: AppointmentBody): Promise<void> {
  await mustCall(clinic, "CancelAppointment", {
    appointmentId,
    expectedVersion,
    ...(await reasonOf("CancelAppointment", clinic)),
  });
}

async function lastChange(clinic: Clinic, appointmentId: string): Promise<unknown> {
  const { changes } = await mustCall(clinic, "ListAppointmentChanges", { appointmentId });
  return (changes as unknown[]).at(-1);
}

function today(clinic: Clinic): JsonObject {
  return { dateFrom: day(clinic, 0), dateTo: day(clinic, 0) };
}
