import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BookingService } from "../../src/gen/cupo/clinic/v1/booking_service_pb.js";
import { book, type Clinic, day, mustCall, openClinic, optionsFor, optionsIn } from "../schedule/clinic.js";
import { auditOf } from "../support/audit.js";
import { callRpc } from "../support/rpc.js";
import { shareTestService, type TestService } from "../support/service.js";
import { deskFixtures } from "./desk-fixtures.js";
import { expectRefusal, expectTokenIsBound, walkPages } from "./rpc-under-test.js";

const { matchWaitlistEntry } = BookingService.method;

let service: TestService;
let clinic: Clinic;
let make: ReturnType<typeof deskFixtures>;

beforeAll(async () => {
  service = await shareTestService();
  clinic = await openClinic(service, { rule: { startsAtLocal: "10:00", endsAtLocal: "14:00" } });
  make = deskFixtures(service);
});

afterAll(() => service.close());

describe("MatchWaitlistEntry", () => {
  test("returns the options of a search with the entry's wishes, page by page, and writes nothing", async () => {
    const criteria = { patientId: await make.patient(), dateFrom: day(clinic, 2), dateTo: day(clinic, 3) };
    for (const preferredPeriods of [["MORNING"], ["AFTERNOON"], ["MORNING", "AFTERNOON"], ["NIGHT"]]) {
      const waitlistEntryId = await entry({ ...criteria, preferredPeriods });
      const searched = await optionsFor(clinic, { ...criteria, periods: preferredPeriods });
      expect(searched).toHaveLength(["MORNING", "AFTERNOON"].filter((p) => preferredPeriods.includes(p)).length * 8);
      const request = { waitlistEntryId, pageSize: 4 };
      const matched = (await walkPages(service, matchWaitlistEntry, "options", request)).flat();
      expect(matched.map(placeOf)).toEqual(searched.map(placeOf));
    }
    const answer = await match({ ...criteria, preferredPeriods: ["MORNING"] });
    expect(await auditOf(service, answer)).toEqual([]);
  });

  test("filters by practitioner and location, excludes emergency programs, and accepts the longest date range", async () => {
    const second = await openClinic(service, { serviceId: clinic.serviceId });
    await openClinic(service, { serviceId: clinic.serviceId, program: { emergency: true } });
    const [practitionerId = ""] = second.practitionerIds;
    const practitioners = async (criteria: JsonObject) => {
      const options = optionsIn(await match({ ...criteria, preferredPeriods: ["MORNING"] }));
      return new Set(options.map((option) => option.practitionerId));
    };
    expect(await practitioners({})).toEqual(new Set([practitionerId, ...clinic.practitionerIds]));
    expect(await practitioners({ practitionerId })).toEqual(new Set([practitionerId]));
    const [{ locationId } = { locationId: "" }] = optionsIn(await match({ practitionerId }));
    expect(await practitioners({ locationId })).toEqual(new Set([practitionerId]));
    expect(await practitioners({ locationId: await make.location() })).toEqual(new Set());
  });

  test("returns tokens that book only for the patient of the entry", async () => {
    const patientId = await make.patient();
    const [first, second] = optionsIn(await match({ patientId }));
    expectRefusal(await book(clinic, await make.patient(), `${first?.optionToken}`), 422, [
      "optionToken INVALID_OPTION",
    ]);
    expect((await book(clinic, patientId, `${second?.optionToken}`)).status).toBe(200);
  });

  test("rejects a closed entry, and one of an inactive patient", async () => {
    const closed = await entry({});
    await mustCall(clinic, "CloseWaitlistEntry", {
      waitlistEntryId: closed,
      expectedVersion: 1,
      reason: "Atendida.",
    });
    const refused = await callRpc(service, matchWaitlistEntry, { waitlistEntryId: closed });
    expectRefusal(refused, 409, ["waitlistEntryId STATE_NOT_ALLOWED"]);
    const patientId = await make.patient();
    const waitlistEntryId = await entry({ patientId });
    await service.query(`UPDATE patients SET status = 'INACTIVE' WHERE id = '${patientId}'`);
    const inactive = await callRpc(service, matchWaitlistEntry, { waitlistEntryId });
    expectRefusal(inactive, 409, ["waitlistEntryId PATIENT_NOT_ACTIVE"]);
  });

  test("accepts only page tokens of the same entry, and none of a search", async () => {
    const criteria = { patientId: await make.patient(), dateFrom: day(clinic, 2), dateTo: day(clinic, 2) };
    const waitlistEntryId = await entry(criteria);
    const other = { waitlistEntryId: await entry({ ...criteria, preferredPeriods: ["NIGHT", "MORNING"] }) };
    await expectTokenIsBound(service, matchWaitlistEntry, { request: { waitlistEntryId }, other });
    const search = { ...criteria, serviceId: clinic.serviceId, periods: ["MORNING"], pageSize: 1 };
    const { nextPageToken } = await mustCall(clinic, "SearchAppointmentOptions", search);
    const strange = { waitlistEntryId, pageToken: nextPageToken as string };
    expectRefusal(await callRpc(service, matchWaitlistEntry, strange), 422, ["pageToken INVALID_VALUE"]);
    expectRefusal(await callRpc(service, matchWaitlistEntry, { waitlistEntryId: randomUUID() }), 404);
  });
});

function entry(criteria: JsonObject): Promise<string> {
  return make.entry({ serviceId: clinic.serviceId, ...criteria });
}

async function match(criteria: JsonObject) {
  return callRpc(service, matchWaitlistEntry, { waitlistEntryId: await entry(criteria), pageSize: 200 });
}

function placeOf({ startsAt, practitionerId }: { readonly startsAt?: unknown; readonly practitionerId?: unknown }) {
  return [startsAt, practitionerId];
}
