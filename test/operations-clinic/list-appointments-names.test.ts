import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BookingService } from "../../src/gen/cupo/clinic/v1/booking_service_pb.js";
import { bookFirst, type Clinic, day, everyMorning, openClinic, mustCall as read } from "../schedule/clinic.js";
import { registration } from "../support/registration.js";
import type { RestAnswer } from "../support/rest-request.js";
import { callRpc } from "../support/rpc.js";
import { shareTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";
import { expectTokenIsBound, itemsIn } from "./rpc-under-test.js";

const { listAppointments } = BookingService.method;
const NAMED = { includePatientNames: true };

let service: TestService;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

describe("ListAppointments with the names of patients", () => {
  test("returns the patient's name of each appointment, and writes one access record per patient in the same transaction", async () => {
    const { clinic, ana, luz } = await openDay();
    const client = randomUUID();
    const answer = await list(NAMED, { ...clinic.as, client });
    expect(namesIn(answer)).toEqual(["Ana María Pérez", "Luz Gómez", "Ana María Pérez"]);
    for (const id of [ana, luz]) {
      expect(await accessRecords(id)).toMatchObject([
        {
          tenant_id: clinic.as.tenantId,
          operation: "cupo.clinic.v1.BookingService/ListAppointments",
          principal: expect.stringContaining(client),
          correlation_id: answer.headers.get("x-correlation-id"),
        },
      ]);
    }
  });

  test("records only patients on the page", async () => {
    const { clinic, ana, luz } = await openDay();
    const answer = await list({ ...NAMED, pageSize: 1 }, clinic.as);
    expect(namesIn(answer)).toEqual(["Ana María Pérez"]);
    expect(await accessRecords(ana)).toHaveLength(1);
    expect(await accessRecords(luz)).toEqual([]);
    await expectTokenIsBound(service, listAppointments, { request: NAMED, other: {} }, { as: clinic.as });
  });

  test.each<[string, JsonObject, boolean]>([
    ["without the request for names", {}, true],
    ["if the request declines them", { includePatientNames: false }, true],
    ["for a token without the scope to read patients", NAMED, false],
  ])("returns no names and records nothing %s", async (_, request, mayRead) => {
    const { clinic, ana, luz } = await openDay();
    const scopes = service.scopes.filter((scope) => mayRead || scope !== "patients:read");
    const answer = await list(request, { ...clinic.as, scopes });
    expect(namesIn(answer)).toEqual([undefined, undefined, undefined]);
    for (const id of [ana, luz]) expect(await accessRecords(id)).toEqual([]);
  });

  test("requires only its own scope and that for patients", async () => {
    const { clinic } = await openDay();
    const answer = await list(NAMED, { ...clinic.as, scopes: ["scheduling:read", "patients:read"] });
    expect(namesIn(answer)).toHaveLength(3);
  });
});

describe("ListAppointments with the names of practitioners and services", () => {
  test("returns both names, without an access record", async () => {
    const { clinic, ana } = await openDay();
    const [first] = itemsIn(await list({ includeNames: true }, clinic.as), "appointments") as unknown as {
      practitionerId: string;
    }[];
    const { practitioner } = (await read(clinic, "GetPractitioner", {
      practitionerId: `${first?.practitionerId}`,
    })) as {
      practitioner: JsonObject;
    };
    const { healthcareService } = (await read(clinic, "GetHealthcareService", { serviceId: clinic.serviceId })) as {
      healthcareService: JsonObject;
    };
    expect(first).toMatchObject({ practitionerName: practitioner["fullName"], serviceName: healthcareService["name"] });
    expect(first).not.toHaveProperty("patientName");
    expect(await accessRecords(ana)).toEqual([]);
    const [unnamed] = itemsIn(await list({}, clinic.as), "appointments");
    expect(unnamed).not.toHaveProperty("practitionerName");
  });
});

/** Opens a tenant with three appointments on consecutive days, of Ana, Luz and Ana. */
async function openDay(): Promise<{ clinic: Clinic; ana: string; luz: string }> {
  const clinic = await openClinic(service, { as: { tenantId: randomUUID() }, rule: everyMorning });
  const [ana, luz] = [await register(clinic.as, "Ana María Pérez"), await register(clinic.as, "Luz Gómez")];
  for (const [i, patientId] of [ana, luz, ana].entries()) {
    await bookFirst(clinic, patientId, { dateFrom: day(clinic, 2 + i), dateTo: day(clinic, 2 + i) });
  }
  return { clinic, ana, luz };
}

async function register(as: TokenFor, fullName: string): Promise<string> {
  const token = await service.token(as);
  const { body } = await service.request("POST", "/patients", { token, body: registration({ fullName }) });
  return String(body["id"]);
}

function list(request: JsonObject, as: TokenFor): Promise<RestAnswer> {
  return callRpc(service, listAppointments, request, { as });
}

function namesIn(answer: RestAnswer): unknown[] {
  return itemsIn(answer, "appointments").map((appointment) => appointment["patientName"]);
}

/** Returns the access records that ListAppointments wrote, but not those of bookings. */
function accessRecords(patientId: string): Promise<Record<string, unknown>[]> {
  return service.query(`SELECT * FROM patient_access_records WHERE patient_id = '${patientId}'
    AND operation LIKE '%ListAppointments'`);
}
