import { randomInt } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { day } from "./clinic.js";
import { pick, type Storm } from "./storm-terms.js";

/** The days that become holidays and cease to be ones, from today: some that are booked, never all of those. */
const HOLIDAYS = [3, 5, 8, 12];

/** Each of two programs in turn. */
type Program = Storm["ground"]["programs"][number];

interface HolidayBody {
  readonly holidayId: string;
  readonly active: boolean;
  readonly version: number;
}

/** The days on which somebody is ill, from today: some that are booked. */
const BLOCKED = [2, 3, 4];

interface BlockBody {
  readonly scheduleBlockId: string;
  readonly version: number;
}

const CHANGES = [
  changeRule,
  changeBlock,
  changePractitioners,
  decideAboutRetained,
  changeHoliday,
  changeActivity,
  materialize,
];

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

/** Calls a block off that there is, or adds one of a practitioner or of a program. */
async function changeBlock({ ground, service, send }: Storm, { programId }: Program): Promise<void> {
  const { status, body } = await send("ListScheduleBlocks", { cancelled: false });
  const block = pick((body["scheduleBlocks"] ?? []) as readonly BlockBody[]);
  if (block !== undefined && randomInt(2) > 0) {
    const { scheduleBlockId, version: expectedVersion } = block;
    await send("CancelScheduleBlock", { scheduleBlockId, expectedVersion });
  } else if (status === 200) {
    const days = pick(BLOCKED) ?? 3;
    const times = {
      startsAt: `${day({ service }, days)}T08:30:00-05:00`,
      endsAt: `${day({ service }, days)}T11:00:00-05:00`,
    };
    const target = randomInt(3) > 0 ? { practitionerId: `${pick(ground.practitionerIds)}` } : { programId };
    await send("CreateScheduleBlock", { kind: "ILLNESS", ...times, ...target });
  }
}

/** Accepts one of what is retained as it is, and has another practitioner take over all of it. */
async function decideAboutRetained({ ground, send }: Storm): Promise<void> {
  const { body } = await send("ListRetainedAppointments", { pageSize: 20 });
  const retained = (body["appointments"] ?? []) as readonly {
    readonly appointmentId: string;
    readonly version: number;
  }[];
  const choices = retained.map(({ appointmentId, version: expectedVersion }) => ({
    appointmentId,
    expectedVersion,
  }));
  if (choices.length === 0) return;
  await send("AcceptRetainedAppointments", { choices: choices.slice(0, 1) });
  await send("SubstitutePractitioner", { practitionerId: `${pick(ground.practitionerIds)}`, choices });
}

/** Has a practitioner become active or cease to be; more often the first of the two. */
async function changeActivity({ ground, send }: Storm): Promise<void> {
  const practitionerId = `${pick(ground.practitionerIds)}`;
  const { body } = await send("GetPractitioner", { practitionerId });
  const expectedVersion = versionOf(body["practitioner"]);
  if (expectedVersion > 0)
    await send("UpdatePractitioner", { practitionerId, active: randomInt(3) > 0, expectedVersion });
}

async function materialize({ send }: Storm, { programId }: Program): Promise<void> {
  await send("MaterializeSchedule", { programId });
}

/** The version of what was read; 0 where it could not be. */
function versionOf(resource: unknown): number {
  return Number((resource as JsonObject | undefined)?.["version"] ?? 0);
}
