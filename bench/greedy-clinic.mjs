import { setTimeout as delay } from "node:timers/promises";

const REFERENCE = "cupo.clinic.v1.ReferenceDataService";
const SCHEDULE = "cupo.clinic.v1.ProgramService";
const CONFIGURATION = "cupo.access.v1.SchedulingConfigurationService";
const STAFF = 100;
const POLL_MS = 100;

/**
 * Opens a program whose plan is nearly as large as it may be: a hundred practitioners with slots of ten minutes, day and
 * night, on one day of the week, 187,200 in all. Waits until the schedule is made, unless told not to.
 *
 * @param {(rpc: string, request: object) => Promise<{ status: number, body: any }>} ask
 */
export async function openGreedyClinic(ask, { staff = STAFF, isWaitedFor = true } = {}) {
  const create = async (rpc, request) => idIn(await must(ask, rpc, request));
  const named = (name) => ({ code: name, name, active: true });
  const locationId = await create(`${REFERENCE}/CreateLocation`, named("Sede Norte"));
  const serviceIds = [await create(`${REFERENCE}/CreateHealthcareService`, named("Medicina general"))];
  const program = { ...named("Programa"), emergency: false, locationId };
  const programId = await create(`${SCHEDULE}/CreateProgram`, program);
  const practitionerIds = [];
  for (let i = 0; i < staff; i += 1) {
    const practitioner = { code: `M${i}`, fullName: `Médica ${i}`, active: true };
    practitionerIds.push(await create(`${REFERENCE}/CreatePractitioner`, practitioner));
  }
  await must(ask, `${SCHEDULE}/ReplaceProgramServices`, { programId, serviceIds, expectedVersion: 1 });
  const practitioners = { programId, practitionerIds, expectedVersion: 1 };
  await must(ask, `${CONFIGURATION}/ReplaceProgramPractitioners`, practitioners);
  const ruleId = await create(`${SCHEDULE}/CreateProgramRule`, { programId, ...ruleOf(1) });
  await must(ask, `${SCHEDULE}/MaterializeSchedule`, { programId });
  if (isWaitedFor) await countSlotsWhenMade(ask, programId);
  return { programId, ruleId, practitionerIds };
}

/** The id of the resource in an answer, which is its first member. */
export function idIn(body) {
  return Object.values(Object.values(body)[0])[0];
}

/** A rule of slots of ten minutes on one day of the week. */
export function ruleOf(weekday) {
  return {
    active: true,
    dailyCapacity: 10_000,
    slotDurationMinutes: 10,
    startsAtLocal: "00:00:00",
    endsAtLocal: "23:59:59",
    recurrence: "WEEKLY",
    weekdays: [weekday],
    validFrom: "2020-01-01",
    validTo: "2099-12-31",
    holidayDates: [],
    holidayPolicy: "INCLUDE",
  };
}

/** How many open slots a program has when its schedule is made up to the horizon. */
export async function countSlotsWhenMade(ask, programId) {
  for (;;) {
    const { materialization } = await must(ask, `${SCHEDULE}/GetMaterializationStatus`, { programId });
    if (!materialization.pending) return materialization.openSlotCount;
    await delay(POLL_MS);
  }
}

/** A local date so many days after today, YYYY-MM-DD. */
export function dateIn(days) {
  return new Date(Date.now() - 5 * 3_600_000 + days * 86_400_000).toISOString().slice(0, 10);
}

async function must(ask, rpc, request) {
  const { status, body } = await ask(rpc, request);
  if (status !== 200) throw new Error(`${rpc} was answered ${status}: ${JSON.stringify(body)}`);
  return body;
}
