import { randomUUID } from "node:crypto";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DemoProgram } from "../../src/demo/demo-clinic.js";
import { openDemoTransport } from "../../src/demo/demo-transport.js";
import { fillClinic } from "../../src/demo/fill-clinic.js";
import { largeClinic } from "../../src/demo/large-clinic.js";
import { extendSchedules } from "../../src/jobs/extend-schedules.js";
import type { Database } from "../../src/postgres/database.js";
import { idOf } from "../operations-clinic/resources-under-test.js";
import { appointmentIn, type Clinic, call, day, mustCall, type OptionBody, optionsIn } from "../schedule/clinic.js";
import { openServiceDatabase } from "../support/open-service-database.js";
import { startTestService, type TestService } from "../support/service.js";

/**
 * The large clinic, reduced to the searched programs with one practitioner each, because each has thousands of slots.
 */
const clinic = {
  ...largeClinic,
  programs: largeClinic.programs.filter(({ services }) => services.includes("MEDGEN")).map(withOnePractitioner),
};
const DAY_MS = 86_400_000;
const FILL_MS = 60_000;
const { signal } = new AbortController();

let service: TestService;
let database: Database;

beforeAll(async () => {
  service = await startTestService();
  database = openServiceDatabase(service.databaseUrl, 2);
});

afterAll(async () => {
  await database.close();
  await service.close();
});

/** Local times in Bogotá, and the date of the first slot that a search from today finds. */
const moments: readonly [name: string, at: string, first: string][] = [
  ["in the morning of a working day, before the first slot", "2027-03-09T06:59:00", "2027-03-09"],
  ["near midnight", "2027-03-09T23:55:00", "2027-03-10"],
  ["on a Sunday before a Monday that is a holiday", "2027-03-21T10:00:00", "2027-03-23"],
  ["on the evening of 24 December, a Thursday", "2026-12-24T23:59:00", "2026-12-28"],
  ["on the last evening of the year", "2026-12-31T20:00:00", "2027-01-04"],
  ["on 6 January, when UTC has the next day", "2027-01-06T21:00:00", "2027-01-07"],
  ["on 29 February", "2028-02-29T17:30:00", "2028-03-01"],
];

describe("in a filled demo clinic", () => {
  test.each(moments)(
    "%s, options from today on can be booked and rescheduled",
    async (_, at, first) => {
      service.advance(Date.parse(`${at}-05:00`) - service.now());
      const tenant = await fill();
      const { patientId, requestSourceId, appointmentTypeId } = tenant;
      const options = await find(tenant, { patientId, appointmentTypeId }, 0);
      expect(localDates(options)[0]).toBe(first);
      const booking = { patientId, requestSourceId, appointmentTypeId, optionToken: tokenOf(options[1]) };
      const { appointmentId: id } = appointmentIn(await call(tenant, "BookAppointment", booking));
      const [better] = await find(tenant, { appointmentId: id }, 1);
      const move = { appointmentId: id, optionToken: tokenOf(better), expectedVersion: 1 };
      const moved = appointmentIn(await call(tenant, "RescheduleAppointment", move));
      expect(moved).toMatchObject({ id, version: 2, startsAt: better?.startsAt });
    },
    FILL_MS,
  );

  test(
    "filled months ago, the last day of the schedule is found, and later days after another start",
    async () => {
      service.advance(Date.parse("2027-01-12T15:00:00Z") - service.now());
      const tenant = await fill();
      const { patientId } = tenant;
      const lastDay = day(tenant, 90);
      expect(new Set(localDates(await find(tenant, { patientId }, 90)))).toEqual(new Set([lastDay]));
      expect(await find(tenant, { patientId }, 91)).toEqual([]);
      service.advance(90 * DAY_MS);
      expect(new Set(localDates(await find(tenant, { patientId }, 0)))).toEqual(new Set([lastDay]));
      await restart(tenant);
      expect(localDates(await find(tenant, { patientId }, 1))[0]).toBe(day(tenant, 1));
    },
    FILL_MS,
  );
});

/** A filled clinic, and the ids for a search of general medicine. */
interface DemoTenant extends Pick<Clinic, "service" | "as"> {
  readonly patientId: string;
  readonly serviceId: string;
  readonly requestSourceId: string;
  readonly appointmentTypeId: string;
}

/** Fills a new tenant with the data of the large demo clinic, as the start of the service does. */
async function fill(): Promise<DemoTenant> {
  const as = { tenantId: randomUUID() };
  const tenant = { service, as };
  const { internalUrl } = service;
  const token = () => service.token(as);
  const transport = openDemoTransport({ internalUrl, tenantId: as.tenantId, token, signal });
  const year = Number(day(tenant, 0).slice(0, 4));
  await fillClinic(clinic, transport, [year, year + 1], () => undefined);
  await restart({ as });
  const document = { documentType: "CC", documentNumber: "90000001" };
  const [{ patient }, services, sources, types] = await Promise.all([
    mustCall(tenant, "FindPatientByDocument", document),
    mustCall(tenant, "ListHealthcareServices", { code: "MEDGEN" }),
    mustCall(tenant, "ListRequestSources", {}),
    mustCall(tenant, "ListAppointmentTypes", {}),
  ]);
  return {
    ...tenant,
    patientId: idOf(patient as JsonObject),
    serviceId: firstId(services["healthcareServices"]),
    requestSourceId: firstId(sources["requestSources"]),
    appointmentTypeId: firstId(types["appointmentTypes"]),
  };
}

/** Returns the options of 31 days, from `days` after today. */
async function find(tenant: DemoTenant, subject: JsonObject, days: number): Promise<readonly OptionBody[]> {
  const dates = { dateFrom: day(tenant, days), dateTo: day(tenant, days + 30) };
  const { serviceId } = tenant;
  return optionsIn(await call(tenant, "SearchAppointmentOptions", { ...subject, ...dates, serviceId, pageSize: 200 }));
}

/** Extends the schedules as the start of the service does. */
async function restart({ as }: Pick<DemoTenant, "as">): Promise<void> {
  const logger = { info: () => undefined, warn: () => undefined };
  const ports = { database, now: service.now, maxOpenSlots: 1_000_000, logger };
  while ((await extendSchedules(as.tenantId ?? "", ports)).kind === "ADDED");
}

function withOnePractitioner(program: DemoProgram): DemoProgram {
  return { ...program, practitioners: program.practitioners.slice(0, 1) };
}

function firstId(resources: JsonValue | undefined): string {
  const [first = {}] = resources as JsonObject[];
  return idOf(first);
}

function tokenOf(option: OptionBody | undefined): string {
  if (option === undefined) throw new Error("there is no option");
  return option.optionToken;
}

function localDates(options: readonly OptionBody[]): string[] {
  return options.map(({ startsAt }) => new Date(Date.parse(startsAt) - 5 * 3_600_000).toISOString().slice(0, 10));
}
