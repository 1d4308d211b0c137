import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import {
  type AppointmentBody,
  appointmentIn,
  book,
  type Clinic,
  call,
  day,
  openClinic,
  optionsFor,
} from "../schedule/clinic.js";
import { shareTestService, type TestService } from "../support/service.js";
import { opportunityDefinition, provideResource } from "./resources-under-test.js";
import { expectRefusal } from "./rpc-under-test.js";

let service: TestService;
let clinic: Clinic;
let booked: AppointmentBody;

beforeAll(async () => {
  service = await shareTestService();
});

beforeEach(async () => {
  clinic = await openClinic(service);
  const patientId = await fixtures.createPatient(service);
  const [option] = await optionsFor(clinic, { patientId });
  booked = appointmentIn(await book(clinic, patientId, `${option?.optionToken}`, { desiredOn: day(clinic, 4) }));
});

afterAll(() => service.close());

describe("CorrectAppointmentWait", () => {
  test("takes no request in the future, although the patient wishes a later date", async () => {
    expectRefusal(await correct({ requestedOn: day(clinic, 1) }), 422, ["requestedOn OUT_OF_RANGE"]);
  });

  test("takes a wish from the day of the booking on, if the day of the request is not known", async () => {
    await service.query(`UPDATE appointments SET requested_on = NULL WHERE id = '${booked.appointmentId}'`);
    expectRefusal(await correct({ desiredOn: day(clinic, -1) }), 422, ["desiredOn OUT_OF_RANGE"]);
    const desiredOn = day(clinic, 0);
    expect(appointmentIn(await correct({ desiredOn }))).toMatchObject({ desiredOn });
  });

  test("calculates due_on as a booking does, by the limit of the appointment type and not of the service", async () => {
    const { id } = await provideResource(service, opportunityDefinition, { maxWaitDays: 300 }, {});
    await service.query(
      `UPDATE healthcare_services SET opportunity_definition_id = '${id}' WHERE id = '${clinic.serviceId}'`,
    );
    const requestedOn = day(clinic, -1);
    const patientId = await fixtures.createPatient(service);
    const [option] = await optionsFor(clinic, { patientId });
    const { dueOn } = appointmentIn(
      await book(clinic, patientId, `${option?.optionToken}`, { requestedOn }),
    ) as WithDue;
    expect(dueOn).toMatch(/^\d/);
    expect(appointmentIn(await correct({ requestedOn }))).toMatchObject({ dueOn });
  });
});

type WithDue = AppointmentBody & { readonly dueOn?: string };

function correct(changes: JsonObject) {
  const request = { appointmentId: booked.appointmentId, expectedVersion: 1, reason: "La solicitud llegó por correo." };
  return call(clinic, "CorrectAppointmentWait", { ...request, ...changes });
}
