import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { JsonObject } from "@bufbuild/protobuf";
import { newPatient } from "./load.js";
import { type Call, RPC } from "./requests.js";

/** A clinic with open slots. */
export interface Clinic {
  readonly locationId: string;
  readonly serviceId: string;
  readonly programs: readonly string[];
  readonly practitionerId: string;
  readonly patientId: string;
  readonly requestSourceId: string;
  /** An appointment type of one slot. */
  readonly appointmentTypeId: string;
  /** An appointment type of an hour, which takes several slots. */
  readonly longTypeId: string;
  readonly slots: number;
  /** How long the background jobs took to make the slots, in milliseconds. */
  readonly slotsMs: number;
}

/** A slot as a search returns it. */
interface Option {
  readonly optionToken: string;
  readonly practitionerId: string;
  readonly startsAt: string;
}

const PROGRAMS = 10;
const DAYS = 90;
const WORKDAY_MINUTES = 480;
const MAX_SLOTS_A_DAY = 48;
const BOOKINGS = 100;
const POLL_MS = 200;
/** Moves use this many days, one after the other. */
const DAYS_OF_MOVES = 80;
/** A move searches this many options and takes the last one, because the first slots of a day are booked earlier. */
const PAGE_OF_MOVES = 50;
const PROGRAM = "cupo.clinic.v1.ProgramService";
const REFERENCE = "cupo.clinic.v1.ReferenceDataService";
const CONFIGURATION = "cupo.access.v1.SchedulingConfigurationService";
const CATALOG = "cupo.access.v1.CatalogService";

/**
 * Opens ten programs for one service, with about `slots` open slots in all, from 7:00 to 15:00 on each of `days` days,
 * the horizon of the tenant. Books some of them. `call` calls as the tenant to fill.
 */
export async function openClinic(call: Call, slots: number, days = DAYS): Promise<Clinic> {
  const slotsADay = Math.min(MAX_SLOTS_A_DAY, Math.max(1, Math.round(slots / (PROGRAMS * days))));
  const staff = Math.max(1, Math.round(slots / (PROGRAMS * days * slotsADay)));
  const rooms = await openPrograms(call, PROGRAMS, staff, slotsADay);
  const startedAt = performance.now();
  for (const programId of rooms.programs) await call(`${PROGRAM}/MaterializeSchedule`, { programId });
  let made = 0;
  for (const programId of rooms.programs) made += await countWhenMade(call, programId);
  const slotsMs = performance.now() - startedAt;
  const clinic = { ...rooms, ...(await createTypes(call)), patientId: await registerPatient(call) };
  for (let i = 0; i < BOOKINGS; i += 1) await bookFirst(call, clinic, await registerPatient(call), 1, 30);
  return { ...clinic, slots: made, slotsMs };
}

/**
 * Opens `count` programs for one service. The rule of each gives every practitioner `slotsADay` slots on each of 90 days.
 */
export async function openPrograms(call: Call, count: number, staff: number, slotsADay: number) {
  const { location } = await call<{ location: { locationId: string } }>(
    `${REFERENCE}/CreateLocation`,
    named("Sede Norte"),
  );
  const { healthcareService } = await call<{ healthcareService: { serviceId: string } }>(
    `${REFERENCE}/CreateHealthcareService`,
    named("Medicina general"),
  );
  const place = { locationId: location.locationId, serviceId: healthcareService.serviceId };
  const programs: string[] = [];
  let practitionerId = "";
  for (let i = 0; i < count; i += 1) {
    const added = await addProgram(call, { ...place, staff, rule: ruleFor(staff, slotsADay) });
    programs.push(added.programId);
    practitionerId = added.practitionerId;
  }
  return { ...place, programs, practitionerId };
}

async function addProgram(
  call: Call,
  given: { locationId: string; serviceId: string; staff: number; rule: JsonObject },
): Promise<{ programId: string; practitionerId: string }> {
  const { locationId, serviceId, staff, rule } = given;
  const program = { ...named("Programa"), emergency: false, locationId };
  const created = await call<{ program: { programId: string } }>(`${PROGRAM}/CreateProgram`, program);
  const { programId } = created.program;
  const practitionerIds: string[] = [];
  for (let s = 0; s < staff; s += 1) {
    const { practitioner } = await call<{ practitioner: { practitionerId: string } }>(
      `${REFERENCE}/CreatePractitioner`,
      { code: randomUUID(), fullName: `Médica ${s}`, active: true },
    );
    practitionerIds.push(practitioner.practitionerId);
  }
  await call(`${PROGRAM}/ReplaceProgramServices`, { programId, serviceIds: [serviceId], expectedVersion: 1 });
  await call(`${CONFIGURATION}/ReplaceProgramPractitioners`, { programId, practitionerIds, expectedVersion: 1 });
  await call(`${PROGRAM}/CreateProgramRule`, { programId, ...rule });
  return { programId, practitionerId: practitionerIds[0] ?? "" };
}

function named(name: string): { code: string; name: string; active: boolean } {
  return { code: randomUUID().slice(0, 13), name, active: true };
}

function ruleFor(staff: number, slotsADay: number): JsonObject {
  return {
    active: true,
    dailyCapacity: Math.min(10_000, staff * slotsADay),
    slotDurationMinutes: Math.floor(WORKDAY_MINUTES / slotsADay),
    startsAtLocal: "07:00:00",
    endsAtLocal: "15:00:00",
    recurrence: "WEEKLY",
    weekdays: [1, 2, 3, 4, 5, 6, 7],
    validFrom: "2020-01-01",
    validTo: "2099-12-31",
    holidayDates: [],
    holidayPolicy: "INCLUDE",
  };
}

/** Waits until the background jobs have made the slots of a program. Returns their number. */
export async function countWhenMade(call: Call, programId: string): Promise<number> {
  for (;;) {
    const { materialization } = await call<{ materialization: { pending: boolean; openSlotCount: number } }>(
      `${PROGRAM}/GetMaterializationStatus`,
      { programId },
    );
    if (!materialization.pending) return materialization.openSlotCount;
    await delay(POLL_MS);
  }
}

async function createTypes(call: Call) {
  const { requestSource } = await call<{ requestSource: { id: string } }>(`${CATALOG}/CreateRequestSource`, {
    ...named("Teléfono"),
    channel: "PHONE",
  });
  const defined = await call<{ opportunityDefinition: { opportunityDefinitionId: string } }>(
    `${REFERENCE}/CreateOpportunityDefinition`,
    { ...named("Prioritaria"), maxWaitDays: 3, dayKind: "BUSINESS" },
  );
  const { opportunityDefinitionId } = defined.opportunityDefinition;
  const createType = async (name: string, durationMinutes: number) => {
    const type = { ...named(name), durationMinutes, opportunityDefinitionId };
    const rpc = `${CATALOG}/CreateAppointmentType`;
    return (await call<{ appointmentType: { id: string } }>(rpc, type)).appointmentType.id;
  };
  return {
    requestSourceId: requestSource.id,
    appointmentTypeId: await createType("Control", 10),
    longTypeId: await createType("Primera vez", 60),
  };
}

/** Registers a new patient and returns the id. */
export async function registerPatient(call: Call): Promise<string> {
  return (await call<{ patient: { id: string } }>(RPC.register, newPatient())).patient.id;
}

type BookableClinic = Pick<Clinic, "serviceId" | "requestSourceId" | "appointmentTypeId">;

/** Books the first slot from one day to another, counted from today. Returns the appointment's id. */
export async function bookFirst(
  call: Call,
  clinic: BookableClinic,
  patientId: string,
  firstDay: number,
  lastDay: number = firstDay,
): Promise<string> {
  const { serviceId, requestSourceId, appointmentTypeId } = clinic;
  const [option] = await options(call, { patientId, serviceId, pageSize: 1 }, firstDay, lastDay);
  if (option === undefined) throw new Error("the clinic has no free slot left");
  const request = { patientId, optionToken: option.optionToken, requestSourceId, appointmentTypeId };
  const { appointment } = await call<{ appointment: { appointmentId: string } }>(RPC.book, request);
  return appointment.appointmentId;
}

/** Books `count` appointments. Returns a request for each that moves it to the next day, all to different slots. */
export async function prepareMoves(call: Call, clinic: Clinic, count: number): Promise<JsonObject[]> {
  const taken = new Set<string>();
  const moves: JsonObject[] = [];
  for (let i = 0; i < count; i += 1) {
    const appointmentId = await bookFirst(call, clinic, await registerPatient(call), 1 + (i % DAYS_OF_MOVES));
    moves.push(await moveOf(call, clinic, appointmentId, 2 + (i % DAYS_OF_MOVES), taken));
  }
  return moves;
}

/** Returns a request that moves an appointment to `day`, counted from today, and to a slot that is not in `taken`. */
export async function moveOf(
  call: Call,
  { serviceId }: BookableClinic,
  appointmentId: string,
  day: number,
  taken: Set<string> = new Set(),
): Promise<JsonObject> {
  const found = await options(call, { appointmentId, serviceId, pageSize: PAGE_OF_MOVES }, day);
  const option = found.findLast((each) => !taken.has(slotOf(each)));
  if (option === undefined) throw new Error("the clinic has too few slots for this many moves");
  taken.add(slotOf(option));
  return { appointmentId, optionToken: option.optionToken, expectedVersion: 1 };
}

function slotOf({ practitionerId, startsAt }: Option): string {
  return `${practitionerId} ${startsAt}`;
}

async function options(call: Call, query: JsonObject, firstDay: number, lastDay = firstDay): Promise<Option[]> {
  const request = { ...query, dateFrom: dateIn(firstDay), dateTo: dateIn(lastDay) };
  return (await call<{ options?: Option[] }>(RPC.search, request)).options ?? [];
}

/** Returns the local date `days` days after today, YYYY-MM-DD. */
export function dateIn(days: number): string {
  return new Date(Date.now() - 5 * 3_600_000 + days * 86_400_000).toISOString().slice(0, 10);
}
