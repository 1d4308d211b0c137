import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { bookFirst, type Clinic, call, day, mustCall, openClinic, optionsFor } from "../schedule/clinic.js";
import { startTestService, type TestService } from "../support/service.js";
import { hold } from "./hold-requests.js";
import { expectRefusal } from "./rpc-under-test.js";

let service: TestService;
let clinic: Clinic;
let patientId: string;

beforeAll(async () => {
  service = await startTestService();
});

beforeEach(async () => {
  clinic = await openClinic(service, { as: { tenantId: randomUUID() } });
  patientId = await fixtures.createPatient(service, {}, clinic.as);
});

afterAll(() => service.close());

test("an option of an erased patient is gone: 410", async () => {
  const [option] = await optionsFor(clinic, { patientId });
  await erase();
  expectRefusal(await hold(clinic, `${option?.optionToken}`), 410);
});

test("an erased patient and the appointments of one have no options: 404", async () => {
  const { appointmentId } = await bookFirst(clinic, patientId);
  const cancellationReasonId = await fixtures.cancellationReason.create(service, clinic.as);
  await mustCall(clinic, "CancelAppointment", { appointmentId, cancellationReasonId, expectedVersion: 1 });
  await erase();
  const search = { serviceId: clinic.serviceId, dateFrom: day(clinic, 2), dateTo: day(clinic, 2) };
  for (const subject of [{ patientId }, { appointmentId }]) {
    const items = Object.keys(subject).map((field) => `${field} NOT_FOUND`);
    expectRefusal(await call(clinic, "SearchAppointmentOptions", { ...search, ...subject }), 404, items);
  }
});

async function erase(): Promise<void> {
  await mustCall(clinic, "ErasePatient", { patientId, expectedVersion: 1, reason: "Radicado 7" });
}
