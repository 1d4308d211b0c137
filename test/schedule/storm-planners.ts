import { randomInt } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { day } from "./clinic.js";
import { pick, type Storm } from "./storm-context.js";

/**
 * Days from today that become holidays and working days again. Some are booked, but never all booked days are holidays.
 */
const HOLIDAYS = [3, 5, 8, 12];

/** One of the two programs that the planners change. */
type Program = Storm["fixture"]["programs"][number];

interface HolidayBody {
  readonly holidayId: string;
  readonly active: boolean;
  readonly version: number;
}

/** Days from today on which a block is created. Some are booked. */
const BLOCKED = [2, 3, 4];

interface BlockBody {
  readonly scheduleBlockId: string;
  readonly version: number;
}

const CHANGES = [
  changeRule,
  changeBlock,
  changePractitioners,
  decideAboutDisplaced,
  swapPractitioners,
  changeHoliday,
  changeActivity,
  materialize,
];

/**
 * Changes rules, practitioners, holidays and blocks until the storm is over. Each change names the version just read,
 * which another caller may have changed since. The kinds of change take turns, so that each occurs.
 */
export async function plan(storm: Storm, first: number): Promise<void> {
  for (let turn = first; !storm.isOver(); turn++) {
    const program = pick(storm.fixture.programs);
    if (program !== undefined) await CHANGES[turn % CHANGES.length]?.(storm, program);
  }
}

async function changeRule({ send }: Storm, { programId, ruleId }: Program): Promise<void> {
  const { body } = await send("GetProgramRule", { programId, ruleId });
  const expectedVersion = versionOf(body["programRule"]);
  const attributes = {
    endsAtLocal: pick(["10:00:00", "11:30:00", "12:00:00"]) ?? "12:00:00",
    slotDurationMinutes: pick([20, 30, 40]) ?? 30,
    holidayPolicy: pick(["SKIP", "INCLUDE"]) ?? "SKIP",
  };
  if (expectedVersion > 0) await send("UpdateProgramRule", { programId, ruleId, expectedVersion, ...attributes });
}

async function changePractitioners({ fixture, send }: Storm, { programId }: Program): Promise<void> {
  const { body } = await send("GetProgramPractitioners", { programId });
  const expectedVersion = versionOf(body["programPractitioners"]);
  const practitionerIds = fixture.practitionerIds.slice(randomInt(2));
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

/** Cancels an existing block, or creates one of a practitioner or program. */
async function changeBlock({ fixture, service, send }: Storm, { programId }: Program): Promise<void> {
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
    const target = randomInt(3) > 0 ? { practitionerId: `${pick(fixture.practitionerIds)}` } : { programId };
    await send("CreateScheduleBlock", { kind: "ILLNESS", ...times, ...target });
  }
}

/** Accepts one displaced appointment, and substitutes the practitioner of all of them. */
async function decideAboutDisplaced({ fixture, send }: Storm): Promise<void> {
  const { body } = await send("ListDisplacedAppointments", { pageSize: 20 });
  const displaced = (body["appointments"] ?? []) as readonly {
    readonly appointmentId: string;
    readonly version: number;
  }[];
  const choices = displaced.map(({ appointmentId, version: expectedVersion }) => ({
    appointmentId,
    expectedVersion,
  }));
  if (choices.length === 0) return;
  await send("AcceptDisplacedAppointments", { choices: choices.slice(0, 1) });
  await send("SubstitutePractitioner", { practitionerId: `${pick(fixture.practitionerIds)}`, choices });
}

/** Exchanges the appointments of two practitioners in an hour of a booked day. */
async function swapPractitioners({ fixture, service, send }: Storm, { programId }: Program): Promise<void> {
  const practitionerId = `${pick(fixture.practitionerIds)}`;
  const otherPractitionerId = `${pick(fixture.practitionerIds.filter((id) => id !== practitionerId))}`;
  const hour = pick(["08", "09", "10"]);
  const on = day({ service }, pick(BLOCKED) ?? 3);
  const span = { startsAt: `${on}T${hour}:00:00-05:00`, endsAt: `${on}T${hour}:59:00-05:00` };
  await send("SwapPractitioners", { programId, practitionerId, otherPractitionerId, ...span });
}

/** Activates or deactivates a practitioner. Activates in two of three cases. */
async function changeActivity({ fixture, send }: Storm): Promise<void> {
  const practitionerId = `${pick(fixture.practitionerIds)}`;
  const { body } = await send("GetPractitioner", { practitionerId });
  const expectedVersion = versionOf(body["practitioner"]);
  if (expectedVersion > 0)
    await send("UpdatePractitioner", { practitionerId, active: randomInt(3) > 0, expectedVersion });
}

async function materialize({ send }: Storm, { programId }: Program): Promise<void> {
  await send("MaterializeSchedule", { programId });
}

/** Returns the version of a resource. 0 if it could not be read. */
function versionOf(resource: unknown): number {
  return Number((resource as JsonObject | undefined)?.["version"] ?? 0);
}
