import { randomInt } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { day } from "./clinic.js";
import { pick, type Storm } from "./storm-terms.js";

/** The days that become holidays and cease to be ones, from today: some that are booked, never all of those. */
const HOLIDAYS = [3, 5, 8, 30];

/** Each of two programs in turn. */
type Program = Storm["ground"]["programs"][number];

interface HolidayBody {
  readonly holidayId: string;
  readonly active: boolean;
  readonly version: number;
}

const CHANGES = [changeRule, changePractitioners, changeHoliday, materialize];

/**
 * Changes what the schedule is made from until the storm is over, on the version that is current or was a moment ago. The
 * kinds of change come in turn, so that none is left to chance.
 */
export async function plan(storm: Storm, first: number): Promise<void> {
  for (let turn = first; !storm.isOver(); turn++) {
    const program = pick(storm.ground.programs);
    if (program !== undefined) await CHANGES[turn % CHANGES.length]?.(storm, program);
  }
}

async function changeRule({ send }: Storm, { programId, ruleId }: Program): Promise<void> {
  const { body } = await send("GetProgramRule", { programId, ruleId });
  const expectedVersion = versionOf(body["programRule"]);
  const terms = {
    endsAtLocal: pick(["10:00:00", "11:30:00", "12:00:00"]) ?? "12:00:00",
    slotDurationMinutes: pick([20, 30, 40]) ?? 30,
    holidayPolicy: pick(["SKIP", "INCLUDE"]) ?? "SKIP",
  };
  if (expectedVersion > 0) await send("UpdateProgramRule", { programId, ruleId, expectedVersion, ...terms });
}

async function changePractitioners({ ground, send }: Storm, { programId }: Program): Promise<void> {
  const { body } = await send("GetProgramPractitioners", { programId });
  const expectedVersion = versionOf(body["programPractitioners"]);
  const practitionerIds = ground.practitionerIds.slice(randomInt(2));
  if (expectedVersion > 0) await send("ReplaceProgramPractitioners", { programId, practitionerIds, expectedVersion });
}

async function changeHoliday({ service, send }: Storm): Promise<void> {
  const date = day({ service }, pick(HOLIDAYS) ?? 3);
  const { status, body } = await send("ListHolidays", { dateFrom: date, dateTo: date });
  const [holiday] = (body["holidays"] ?? []) as readonly HolidayBody[];
  if (holiday !== undefined) {
    const { holidayId, active, version: expectedVersion } = holiday;
    await send("UpdateHoliday", { holidayId, active: !active, expectedVersion });
  } else if (status === 200) {
    await send("CreateHoliday", { date, name: "Día cívico", active: true });
  }
}

async function materialize({ send }: Storm, { programId }: Program): Promise<void> {
  await send("MaterializeSchedule", { programId });
}

/** The version of what was read; 0 where it could not be. */
function versionOf(resource: unknown): number {
  return Number((resource as JsonObject | undefined)?.["version"] ?? 0);
}
