import type { ContextValues, ServiceImpl } from "@connectrpc/connect";
import { callOf, transactionOf } from "../call.js";
import type { Holiday } from "../gen/cupo/access/v1/holiday_pb.js";
import type {
  ScheduleService,
  SeedHolidaysRequestValid,
  UpdateHolidayRequestValid,
} from "../gen/cupo/clinic/v1/schedule_service_pb.js";
import { ownCalendar } from "../postgres/calendars.js";
import {
  type HolidayRecord,
  listHolidays,
  lockHoliday,
  seedHolidays,
  sendHolidayUpdate,
} from "../postgres/holidays.js";
import { legalHolidays } from "./colombian-holidays.js";
import { remakeDate } from "./materialize.js";
import { dateAfter } from "./page-keys.js";
import { cutPage, readPage } from "./pages.js";
import { requireFound, requireVersion } from "./preconditions.js";
import { changesOf } from "./resources.js";
import { toHoliday } from "./schedule-messages.js";

type HolidayMethods = Pick<ServiceImpl<typeof ScheduleService>, "listHolidays" | "updateHoliday" | "seedHolidays">;

/** The methods of ScheduleService that are about holidays. `now` gives milliseconds since the epoch. */
export function createHolidayMethods(now: () => number): HolidayMethods {
  return {
    async listHolidays(message, { values }) {
      const { dateFrom, dateTo, active } = message;
      const filters = [dateFrom, dateTo, active];
      const page = readPage(message, "holidays", filters);
      const limits = { afterDate: dateAfter(page), limit: page.size + 1 };
      const found = await listHolidays(transactionOf(values), { dateFrom, dateTo, active }, limits);
      const { rows, next } = cutPage(found, page, ({ date }) => [date], "holidays", filters);
      return { holidays: rows.map(toHoliday), ...next };
    },
    async updateHoliday(message, { values }) {
      return { holiday: await updateHoliday(message as UpdateHolidayRequestValid, values, now()) };
    },
    async seedHolidays(message, { values }) {
      return seed((message as SeedHolidaysRequestValid).year, values, now());
    },
  };
}

async function updateHoliday(
  request: UpdateHolidayRequestValid,
  values: ContextValues,
  nowMs: number,
): Promise<Holiday> {
  const transaction = transactionOf(values);
  ownCalendar(transaction);
  const holiday = requireFound(await lockHoliday(transaction, request.holidayId));
  requireVersion(holiday, request.expectedVersion);
  const changes = changesOf(request);
  if (Object.keys(changes).length === 0) return toHoliday(holiday);
  const { name = holiday.name, active = holiday.active } = changes;
  const updated = { ...holiday, name, active, version: holiday.version + 1 };
  if (active !== holiday.active) await remakeDate(transactionOf(values), holiday.date, active, nowMs);
  sendHolidayUpdate(transaction, updated, new Date(nowMs));
  callOf(values).effects.push({
    resourceType: "Holiday",
    resourceId: holiday.id,
    action: "UPDATE",
    version: updated.version,
  });
  return toHoliday(updated);
}

async function seed(year: number, values: ContextValues, nowMs: number) {
  const wanted: HolidayRecord[] = legalHolidays(year).map(({ date, name }) => ({
    id: callOf(values).newId(),
    date,
    name,
    active: true,
    version: 1,
  }));
  ownCalendar(transactionOf(values));
  const { created, existing } = await seedHolidays(transactionOf(values), wanted, new Date(nowMs));
  for (const { id, date } of created) {
    await remakeDate(transactionOf(values), date, true, nowMs);
    callOf(values).effects.push({ resourceType: "Holiday", resourceId: id, action: "CREATE", version: 1 });
  }
  return { createdHolidays: created.map(toHoliday), existingHolidays: existing.map(toHoliday) };
}
