import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDemoTransport } from "../../src/demo/demo-transport.js";
import { fillClinic } from "../../src/demo/fill-clinic.js";
import { largeClinic } from "../../src/demo/large-clinic.js";
import { extendSchedule } from "../../src/jobs/extend-schedule.js";
import { type Database, openDatabase } from "../../src/postgres/database.js";
import { appointmentIn, call, day, mustCall, type OptionBody } from "../schedule/clinic.js";
import { startTestService, type TestService } from "../support/service.js";

const DAY_MS = 86_400_000;
const FILL_MS = 60_000;

let service: TestService;
let database: Database;

beforeAll(async () => {
  service = await startTestService();
  database = openDatabase({
    url: service.proxy.url,
    maxConnections: 2,
    acquireTimeoutMs: 10_000,
    queryTimeoutMs: 30_000,
    onIdleError: () => undefined,
  });
});

afterAll(async () => {
  await database.close();
  await service.close();
});

/** Local dates and times in Bogotá, and the day of the first slot of a search that starts today. */
const moments: readonly [name: string, at: string, first: string][] = [
  ["in the morning of a working day, before the first slot", "2027-03-09T06:59:00", "2027-03-09"],
  ["near midnight", "2027-03-09T23:55:00", "2027-03-10"],
  ["on a Sunday before a Monday that is a holiday", "2027-03-21T10:00:00", "2027-03-23"],
  ["on the evening of 24 December, a Thursday", "2026-12-24T23:59:00", "2026-12-28"],
  ["on the last evening of the year", "2026-12-31T20:00:00", "2027-01-04"],
  ["on 6 January, when UTC has the next day", "2027-01-06T21:00:00", "2027-01-07"],
  ["on 29 February", "2028-02-29T17:30:00", "2028-03-01"],
];

describe("in a demo clinic that is filled", () => {
  test.each(moments)(
    "%s, what is found from today on can be booked and moved",
    async (_, at, first) => {
      service.advance(Date.parse(`${at}-05:00`) - service.now());
      const clinic = await fill();
      const options = await clinic.search({ patientId: clinic.patientId }, 0);
      expect(localDates(options)[0]).toBe(first);
      const { id } = await clinic.book(options[1]);
      const [better] = await clinic.search({ appointmentId: id }, 1);
      const move = { appointmentId: id, optionToken: `${better?.optionToken}`, expectedVersion: 1 };
      const moved = appointmentIn(await call(clinic, "RescheduleAppointment", move));
      expect(moved).toMatchObject({ id, version: 2, startsAt: better?.startsAt });
    },
    FILL_MS,
  );

  test(
    "months ago, the last day of the schedule is found, and the days after it once the service has started again",
    async () => {
      service.advance(Date.parse("2027-01-12T15:00:00Z") - service.now());
      const clinic = await fill();
      const lastDay = day(clinic, 90);
      const find = (days: number) => clinic.search({ patientId: clinic.patientId }, days);
      expect(new Set(localDates(await find(90)))).toEqual(new Set([lastDay]));
      expect(await find(91)).toEqual([]);
      service.advance(90 * DAY_MS);
      expect(new Set(localDates(await find(0)))).toEqual(new Set([lastDay]));
      await clinic.restart();
      expect(localDates(await find(1))[0]).toBe(day(clinic, 1));
    },
    FILL_MS,
  );
});

/** Fills a tenant of its own with the data of the large demo clinic, as the start of the service does. */
async function fill() {
  const as = { tenantId: randomUUID() };
  const { internalUrl } = service;
  const { signal } = new AbortController();
  const token = () => service.token(as);
  const year = Number(day({ service }, 0).slice(0, 4));
  const transport = openDemoTransport({ internalUrl, tenantId: as.tenantId, token, signal });
  await fillClinic(largeClinic, transport, [year, year + 1], () => undefined);
  const clinic = { service, as };
  const idIn = async (rpc: string, request: JsonObject = {}) =>
    `${(Object.values(await mustCall(clinic, rpc, request))[0] as JsonObject[])[0]?.["id"]}`;
  const code = (text: string) => ({ code: text });
  const [requestSourceId, appointmentTypeId, serviceId] = await Promise.all([
    idIn("ListRequestSources"),
    idIn("ListAppointmentTypes"),
    idIn("ListHealthcareServices", code("MEDGEN")),
  ]);
  const document = { documentType: "CC", documentNumber: "90000001" };
  const { patient } = await mustCall(clinic, "FindPatientByDocument", document);
  const patientId = String((patient as JsonObject)["id"]);
  return {
    ...clinic,
    patientId,
    /** What is there from so many days after today on, through 30 more. */
    async search(subject: JsonObject, days: number): Promise<readonly OptionBody[]> {
      const dates = { dateFrom: day(clinic, days), dateTo: day(clinic, days + 30) };
      const found = await mustCall(clinic, "SearchOptions", { ...subject, ...dates, serviceId, pageSize: 200 });
      return found["options"] as unknown as readonly OptionBody[];
    },
    async book(option: OptionBody | undefined) {
      const request = { patientId, optionToken: `${option?.optionToken}`, requestSourceId, appointmentTypeId };
      return appointmentIn(await call(clinic, "BookAppointment", request));
    },
    /** What the start of the service does to its schedules. */
    async restart(): Promise<void> {
      const { programs } = await mustCall(clinic, "ListPrograms", {});
      const ports = { database, now: service.now, signal, logger: { info: () => undefined } };
      for (const { id } of programs as { id: string }[])
        await extendSchedule({ tenantId: as.tenantId, programId: id }, ports);
    },
  };
}

function localDates(options: readonly OptionBody[]): string[] {
  return options.map(({ startsAt }) => new Date(Date.parse(startsAt) - 5 * 3_600_000).toISOString().slice(0, 10));
}
