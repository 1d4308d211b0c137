import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import {
  type AppointmentBody,
  awaitStep,
  bookFirst,
  type Clinic,
  call,
  mustCall,
  openClinic,
} from "../schedule/clinic.js";
import { startTestService, type TestService } from "../support/service.js";
import { expectRefusal } from "./rpc-under-test.js";

let service: TestService;
let clinic: Clinic;
let appointment: AppointmentBody;

beforeAll(async () => {
  service = await startTestService();
});

beforeEach(async () => {
  clinic = await openClinic(service);
  appointment = await bookFirst(clinic, await fixtures.createPatient(service));
});

afterAll(() => service.close());

describe.each([
  ["CancelAppointment", "cancellationReasonId", "cancellation_reasons", fixtures.cancellationReason],
  ["MarkAppointmentNoShow", "noShowReasonId", "no_show_reasons", fixtures.noShowReason],
] as const)("the reason of %s", (rpc, field, table, reasons) => {
  const send = async (changes: JsonObject) => {
    awaitStep(clinic, rpc, appointment);
    return call(clinic, rpc, { appointmentId: appointment.appointmentId, expectedVersion: 1, ...changes });
  };
  const reasonWith = async (column: string, value: boolean) => {
    const id = await reasons.create(service, clinic.as);
    await service.query(`UPDATE ${table} SET ${column} = ${value} WHERE id = '${id}'`);
    return id;
  };
  const statusNow = async () => {
    const { appointmentId } = appointment;
    return ((await mustCall(clinic, "GetAppointment", { appointmentId }))["appointment"] as JsonObject)["status"];
  };

  test("must exist (404) and be active (422); a rejected request changes nothing", async () => {
    expectRefusal(await send({ [field]: randomUUID(), comment: "Avisó." }), 404, [`${field} NOT_FOUND`]);
    const id = await reasonWith("active", false);
    expectRefusal(await send({ [field]: id, comment: "Avisó." }), 422, [`${field} INVALID_VALUE`]);
    expect(await statusNow()).toBe("PENDING");
  });

  test("that requires a comment is refused without one (422)", async () => {
    const id = await reasonWith("requires_comment", true);
    expectRefusal(await send({ [field]: id }), 422, ["comment REQUIRED"]);
    const answer = await send({ [field]: id, comment: "Avisó." });
    expect(answer.body["appointment"]).toMatchObject({ [field]: id, comment: "Avisó." });
  });

  test("that requires no comment is accepted without one", async () => {
    const id = await reasonWith("requires_comment", false);
    const answer = await send({ [field]: id });
    expect(answer.body["appointment"]).toMatchObject({ [field]: id });
    expect(answer.body["appointment"]).not.toHaveProperty("comment");
  });
});
