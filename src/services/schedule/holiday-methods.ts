import type { ReadyCall } from "../../call.js";
import type { HolidayDetails } from "../../gen/cupo/clinic/v1/holiday_details_pb.js";
import type { ProgramService, UpdateHolidayRequestValid } from "../../gen/cupo/clinic/v1/program_service_pb.js";
import type { Implementation } from "../../implementation.js";
import { ownCalendar } from "../../postgres/tables/schedule/calendars.js";
import {
  type HolidayRecord,
  listHolidays,
  lockHoliday,
  seedHolidays,
  writeHoliday,
} from "../../postgres/tables/schedule/holidays.js";
import { findMaterializedPrograms } from "../../postgres/tables/schedule/materialization.js";
import { dateAfter } from "../resources/page-keys.js";
import { cutPage, readPage } from "../resources/pages.js";
import { requireFound, requireVersion } from "../resources/preconditions.js";
import { changesOf } from "../resources/resources.js";
import { legalHolidays } from "./colombian-holidays.js";
import { remakeDate } from "./remake-span.js";
import { toHolidayDetails } from "./schedule-details.js";

type HolidayMethods = Pick<Implementation<typeof ProgramService>, "listHolidays" | "updateHoliday" | "seedHolidays">;

/** The methods of ProgramService for holidays. `now` returns milliseconds since the epoch. */
export function createHolidayMethods(now: () => number): HolidayMethods {
  return {
    async listHolidays(request, call) {
      const { dateFrom, dateTo, active } = request;
      const filters = [dateFrom, dateTo, active];
      const page = readPage(request, "holidays", filters);
      const limits = { afterDate: dateAfter(page), limit: page.size + 1 };
      const found = await listHolidays(call.transaction, { dateFrom, dateTo, active }, limits);
      const { rows, next } = cutPage(found, page, ({ date }) => [date], "holidays", filters);
      return { holidays: rows.map(toHolidayDetails), ...next };
    },
    async updateHoliday(request, call) {
      return { holiday: await updateHoliday(request, call, now()) };
    },
    async seedHolidays(request, call) {
      return seedYear(request.year, call, now());
    },
  };
}

async function updateHoliday(
  request: UpdateHolidayRequestValid,
  call: ReadyCall,
  nowMs: number,
): Promise<HolidayDetails> {
  const transaction = call.transaction;
  ownCalendar(transaction);
  const [found, programIds] = await Promise.all([
    lockHoliday(transaction, request.holidayId),
    request.active === undefined ? [] : findMaterializedPrograms(transaction),
  ]);
  const holiday = requireFound(found, "holidayId");
  requireVersion(holiday, request.expectedVersion);
  const changes = changesOf(request);
  if (Object.keys(changes).length === 0) return toHolidayDetails(holiday);
  const { name = holiday.name, active = holiday.active } = changes;
  const updated = { ...holiday, name, active, version: holiday.version + 1 };
  const change = { date: holiday.date, isHoliday: active };
  if (active !== holiday.active) await remakeDate(transaction, programIds, change, nowMs);
  writeHoliday(transaction, updated, new Date(nowMs));
  call.effects.push({
    resourceType: "Holiday",
    resourceId: holiday.id,
    action: "UPDATE",
    version: updated.version,
  });
  return toHolidayDetails(updated);
}

/**
 * Adds the legal holidays of a year, except on dates on which the tenant already has a holiday, active or not. Updates
 * the slots on the dates of the new holidays. Returns the new holidays, and the holidays that the tenant already had on
 * dates of legal holidays.
 */
export async function seedYear(year: number, call: ReadyCall, nowMs: number) {
  const wanted: HolidayRecord[] = legalHolidays(year).map(({ date, name }) => ({
    id: call.newId(),
    date,
    name,
    active: true,
    version: 1,
  }));
  ownCalendar(call.transaction);
  const [{ created, existing }, programIds] = await Promise.all([
    seedHolidays(call.transaction, wanted, new Date(nowMs)),
    findMaterializedPrograms(call.transaction),
  ]);
  for (const { id, date } of created) {
    await remakeDate(call.transaction, programIds, { date, isHoliday: true }, nowMs);
    call.effects.push({ resourceType: "Holiday", resourceId: id, action: "CREATE", version: 1 });
  }
  return { createdHolidays: created.map(toHolidayDetails), existingHolidays: existing.map(toHolidayDetails) };
}
