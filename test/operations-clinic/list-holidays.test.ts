import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ProgramService } from "../../src/gen/cupo/clinic/v1/program_service_pb.js";
import { mustCall } from "../schedule/clinic.js";
import { shareTestService, type TestService } from "../support/service.js";
import { expectTokenIsBound, walkPages } from "./rpc-under-test.js";

const { listHolidays } = ProgramService.method;
const DATES = ["2027-03-01", "2027-03-02", "2027-03-03", "2027-03-04"];

let service: TestService;

beforeAll(async () => {
  service = await shareTestService();
});

afterAll(() => service.close());

test("ListHolidays returns the matching holidays by date, the first and the last date included, on pages", async () => {
  const as = { tenantId: randomUUID() };
  for (const date of DATES.toReversed()) {
    await mustCall({ service, as }, "CreateHoliday", { date, name: "Fiesta", active: date !== DATES[1] });
  }
  const list = async (request: JsonObject) => {
    const pages = await walkPages(service, listHolidays, "holidays", { ...request, pageSize: 1 }, { as });
    return pages.flat().map(({ date }) => date);
  };
  expect(await list({})).toEqual(DATES);
  expect(await list({ dateFrom: "2027-03-02", dateTo: "2027-03-03" })).toEqual(DATES.slice(1, 3));
  expect(await list({ dateFrom: "2027-03-03" })).toEqual(DATES.slice(2));
  expect(await list({ dateTo: "2027-03-02" })).toEqual(DATES.slice(0, 2));
  expect(await list({ active: true })).toEqual(DATES.toSpliced(1, 1));
  expect(await list({ active: false })).toEqual(DATES.slice(1, 2));
  await expectTokenIsBound(service, listHolidays, { request: {}, other: { active: true } }, { as });
});

test("SeedHolidays tells the new holidays from those that the tenant has, each by date and active", async () => {
  const as = { tenantId: randomUUID() };
  await mustCall({ service, as }, "CreateHoliday", { date: "2027-12-25", name: "Navidad propia", active: false });
  const { createdHolidays, existingHolidays } = await mustCall({ service, as }, "SeedHolidays", { year: 2027 });
  expect(existingHolidays).toMatchObject([{ date: "2027-12-25", name: "Navidad propia", active: false }]);
  const created = createdHolidays as { readonly date: string; readonly active: boolean }[];
  const dates = created.map(({ date }) => date);
  expect(dates).toEqual(dates.toSorted());
  expect(dates).toContain("2027-01-01");
  expect(dates).not.toContain("2027-12-25");
  expect(created.every(({ active }) => active)).toBe(true);
});
