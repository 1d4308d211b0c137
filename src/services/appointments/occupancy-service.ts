import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ReadyCall } from "../../call.js";
import { validationFailed } from "../../errors.js";
import { type AvailableSlot, AvailableSlotSchema } from "../../gen/cupo/clinic/v1/available_slot_pb.js";
import type { GetOccupancyRequestValid, OccupancyService } from "../../gen/cupo/clinic/v1/occupancy_service_pb.js";
import {
  type ProgramDay,
  ProgramDay_PractitionerSchema,
  ProgramDaySchema,
} from "../../gen/cupo/clinic/v1/program_day_pb.js";
import type { Implementation } from "../../implementation.js";
import { type OccupancyRecord, readOccupancy } from "../../postgres/tables/appointments/occupancy.js";
import type { OptionRecord } from "../../postgres/tables/appointments/option-search.js";
import { endOfLocalDay, startOfLocalDay } from "../../scheduling/local-clock.js";
import { readPage } from "../resources/pages.js";
import { pageOfSlots } from "./option-search.js";

/** The maximum number of rows in a response. A row is a practitioner on one day of a program. */
const MAX_ROWS = 10_000;

/**
 * Creates the service that returns the occupancy of the schedule and searches free slots. `now` returns milliseconds
 * since the epoch.
 */
export function createOccupancyService(now: () => number): Implementation<typeof OccupancyService> {
  return {
    async getOccupancy(request, call) {
      return { programDays: await programDays(request, call, now()) };
    },
    async searchFreeSlots(request, call) {
      const { serviceId, dateFrom, dateTo, periods, locationId, practitionerId, includeEmergency } = request;
      const criteria = { serviceId, dateFrom, dateTo, periods, locationId, practitionerId, includeEmergency };
      const filters = Object.values(criteria);
      const list = { page: readPage(request, SLOTS, filters), name: SLOTS, filters };
      const { rows, next } = await pageOfSlots(criteria, nobody, list, call, now());
      return { slots: rows.map(toAvailableSlot), ...next };
    },
  };
}

const SLOTS = "available slots";
const nobody = {
  patientId: undefined,
  appointmentId: undefined,
  heldDay: undefined,
  minutes: undefined,
  visitMinutes: undefined,
};

async function programDays(
  { dateFrom, dateTo, programId, practitionerId, locationId }: GetOccupancyRequestValid,
  call: ReadyCall,
  nowMs: number,
): Promise<ProgramDay[]> {
  const rows = await readOccupancy(call.transaction, call.principal, {
    from: new Date(startOfLocalDay(dateFrom)),
    to: new Date(endOfLocalDay(dateTo)),
    now: new Date(nowMs),
    programId,
    practitionerId,
    locationId,
    limit: MAX_ROWS + 1,
  });
  if (rows.length > MAX_ROWS) {
    const message = `the answer would have more than ${MAX_ROWS} rows, one for each practitioner and day: ask for fewer dates or for one program`;
    throw validationFailed([{ code: "TOO_MANY", field: "dateTo", message }]);
  }
  return groupByDay(rows);
}

/** Groups rows by program and day. The rows of one program and day must be adjacent. */
function groupByDay(rows: readonly OccupancyRecord[]): ProgramDay[] {
  const days: ProgramDay[] = [];
  for (const { localDate: date, programId, locationId, capacity, capacityLeft, ...row } of rows) {
    const last = days.at(-1);
    const isSame = last?.date === date && last.programId === programId;
    const day = isSame ? last : create(ProgramDaySchema, { date, programId, locationId, capacity, capacityLeft });
    if (!isSame) days.push(day);
    day.practitioners.push(
      create(ProgramDay_PractitionerSchema, {
        practitionerId: row.practitionerId,
        openSlotCount: row.open,
        passedSlotCount: row.passed,
        bookedAppointmentCount: row.booked,
        displacedAppointmentCount: row.displaced,
        blockedMinutes: row.blockedMinutes,
        heldSlotCount: row.held,
      }),
    );
  }
  return days;
}

function toAvailableSlot({ startsAt, endsAt, programId, locationId, practitionerId }: OptionRecord): AvailableSlot {
  return create(AvailableSlotSchema, {
    startsAt: timestampFromDate(startsAt),
    endsAt: timestampFromDate(endsAt),
    programId,
    locationId,
    practitionerId,
  });
}
