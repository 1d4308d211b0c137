import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PatientDirectoryService } from "../../src/gen/cupo/clinic/v1/patient_directory_service_pb.js";
import * as fixtures from "../contract/fixtures.js";
import { bookFirst, type Clinic, mustCall, openClinic } from "../schedule/clinic.js";
import { closeConsistent, foundByTheService } from "../schedule/invariants.js";
import { registerPatient } from "../support/registration.js";
import { callRpc } from "../support/rpc.js";
import { startTestService, type TestService } from "../support/service.js";
import { deskFixtures } from "./desk-fixtures.js";
import { complaint, erasureOf } from "./erasure-requests.js";
import { idsOf, itemsIn } from "./rpc-under-test.js";

const { searchPatients } = PatientDirectoryService.method;

let service: TestService;
let clinic: Clinic;

beforeAll(async () => {
  service = await startTestService();
  clinic = await openClinic(service);
});

afterAll(() => closeConsistent(service, foundByTheService));

describe("the erasure of a patient", () => {
  test("leaves other patients to be found, also by a word of the erased name", async () => {
    const [namesake, other] = [
      await registerPatient(service, { fullName: "Ximena Quiroga" }),
      await registerPatient(service, { fullName: "Rosalba Zapata" }),
    ];
    const erased = await registerPatient(service, { fullName: "Ximena Urrutia" });
    expect(await found("ximena")).toEqual(new Set([namesake.id, erased.id]));
    await mustCall(clinic, "ErasePatient", erasureOf(erased));
    expect(await found("ximena")).toEqual(new Set([namesake.id]));
    expect(await found("zapata")).toEqual(new Set([other.id]));
  });

  test("leaves an appointment without texts at its version", async () => {
    const patient = await registerPatient(service);
    const { appointmentId } = await bookFirst(clinic, patient.id);
    const cancellationReasonId = await fixtures.cancellationReason.create(service, {});
    await mustCall(clinic, "CancelAppointment", { appointmentId, expectedVersion: 1, cancellationReasonId });
    const erasure = await mustCall(clinic, "ErasePatient", erasureOf(patient));
    expect(erasure["emptiedAppointmentIds"] ?? []).toEqual([]);
    const { appointment } = await mustCall(clinic, "GetAppointment", { appointmentId });
    expect(appointment).toMatchObject({ status: "CANCELLED", version: 2 });
  });

  test("empties an appointment whose only text is a link", async () => {
    const patient = await registerPatient(service);
    const { appointmentId } = await bookFirst(clinic, patient.id);
    const video = { modality: "VIDEO", joinLink: "https://video.example.com/sala-9" };
    await mustCall(clinic, "ChangeAppointment", { appointmentId, expectedVersion: 1, ...video });
    const cancellationReasonId = await fixtures.cancellationReason.create(service, {});
    await mustCall(clinic, "CancelAppointment", { appointmentId, expectedVersion: 2, cancellationReasonId });
    const erasure = await mustCall(clinic, "ErasePatient", erasureOf(patient));
    expect(erasure["emptiedAppointmentIds"]).toEqual([appointmentId]);
    const { appointment } = await mustCall(clinic, "GetAppointment", { appointmentId });
    expect(appointment).toMatchObject({ modality: "VIDEO", version: 4 });
    expect(appointment).not.toHaveProperty("joinLink");
  });

  test("leaves cases about nobody, and about appointments of other patients, as they are", async () => {
    const { appointmentId } = await bookFirst(clinic, await fixtures.createPatient(service));
    const make = deskFixtures(service);
    const ids = [await make.attentionCase(complaint), await make.attentionCase({ ...complaint, appointmentId })];
    const erasure = await mustCall(clinic, "ErasePatient", erasureOf(await registerPatient(service)));
    expect(erasure["emptiedUserAttentionCaseIds"] ?? []).toEqual([]);
    for (const userAttentionCaseId of ids) {
      const { userAttentionCase } = await mustCall(clinic, "GetCase", { userAttentionCaseId });
      expect(userAttentionCase).toMatchObject({ ...complaint, version: 1 });
    }
  });
});

async function found(name: string): Promise<ReadonlySet<unknown>> {
  return new Set(idsOf(itemsIn(await callRpc(service, searchPatients, { name }), "patients")));
}
