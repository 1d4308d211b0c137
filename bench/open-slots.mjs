import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";

const PROGRAMS = 10;
const DAYS = 90;
const WORKDAY_MINUTES = 480;
const MAX_SLOTS_A_DAY = 48;
const BOOKINGS = 100;
const POLL_MS = 200;
const SCHEDULE = "cupo.clinic.v1.ProgramService";
const REFERENCE = "cupo.clinic.v1.ReferenceDataService";
const CONFIGURATION = "cupo.access.v1.SchedulingConfigurationService";
const SCHEDULING = "cupo.clinic.v1.BookingService";

/**
 * Opens ten programs that offer one service and have about so many open slots together, on every day from 7:00 to 15:00 for
 * 90 days, and books some of them: all through the service, whose background jobs make the slots.
 *
 * @param {(rpc: string, request: object) => Promise<any>} call a call of the service, as the tenant to fill
 * @param {number} slots
 * @returns what a search asks for, how many slots there are, and how long it took to make them, in ms
 */
export async function openSlots(call, slots) {
  const slotsADay = Math.min(MAX_SLOTS_A_DAY, Math.round(slots / (PROGRAMS * DAYS)));
  const clinic = await openClinic(call, Math.max(1, Math.round(slots / (PROGRAMS * DAYS * slotsADay))), slotsADay);
  const startedAt = performance.now();
  const programs = clinic.programs.map((programId) => ({ programId }));
  for (const program of programs) await call(`${SCHEDULE}/MaterializeSchedule`, program);
  let made = 0;
  for (const program of programs) made += await countWhenMade(call, program);
  const ms = performance.now() - startedAt;
  return { ...clinic, ...(await bookSome(call, clinic)), slots: made, ms };
}

async function openClinic(call, staff, slotsADay) {
  const create = async (rpc, request) => Object.values(Object.values(await call(rpc, request))[0])[0];
  const named = (name) => ({ code: name, name, active: true });
  const locationId = await create(`${REFERENCE}/CreateLocation`, named("Sede Norte"));
  const serviceId = await createService(call, named("Medicina general"));
  const programs = [];
  const practitioners = [];
  for (let p = 0; p < PROGRAMS; p += 1) {
    const program = { ...named(`Programa ${p}`), emergency: false, locationId };
    const programId = await create(`${SCHEDULE}/CreateProgram`, program);
    const practitionerIds = [];
    for (let s = 0; s < staff; s += 1) {
      const practitioner = { code: `M${p}-${s}`, fullName: `Médica ${p}-${s}`, active: true };
      practitionerIds.push(await create(`${REFERENCE}/CreatePractitioner`, practitioner));
    }
    await call(`${SCHEDULE}/ReplaceProgramServices`, { programId, serviceIds: [serviceId], expectedVersion: 1 });
    await call(`${CONFIGURATION}/ReplaceProgramPractitioners`, { programId, practitionerIds, expectedVersion: 1 });
    await call(`${SCHEDULE}/CreateProgramRule`, { programId, ...ruleFor(staff, slotsADay) });
    programs.push(programId);
    practitioners.push(...practitionerIds);
  }
  return { serviceId, programs, practitionerId: practitioners[0], patientId: await registerPatient(call), locationId };
}

async function createService(call, service) {
  return (await call(`${REFERENCE}/CreateHealthcareService`, service)).healthcareService.serviceId;
}

function ruleFor(staff, slotsADay) {
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

async function countWhenMade(call, program) {
  for (;;) {
    const { materialization } = await call(`${SCHEDULE}/GetMaterializationStatus`, program);
    if (!materialization.pending) return materialization.openSlotCount;
    await delay(POLL_MS);
  }
}

/**
 * Gives the id of an appointment type of an hour, which takes several slots, and what those that are booked refer to, which take
 * one each.
 */
async function bookSome(call, { serviceId }) {
  const named = (name) => ({ code: name, name, active: true });
  const { requestSource } = await call("cupo.access.v1.CatalogService/CreateRequestSource", {
    ...named("Teléfono"),
    channel: "PHONE",
  });
  const { opportunityDefinition } = await call(`${REFERENCE}/CreateOpportunityDefinition`, {
    ...named("Prioritaria"),
    maxWaitDays: 3,
    dayKind: "BUSINESS",
  });
  const createType = async (name, durationMinutes) => {
    const { opportunityDefinitionId } = opportunityDefinition;
    const type = { ...named(name), durationMinutes, opportunityDefinitionId };
    return (await call("cupo.access.v1.CatalogService/CreateAppointmentType", type)).appointmentType.id;
  };
  const longTypeId = await createType("Primera vez", 60);
  const ids = { requestSourceId: requestSource.id, appointmentTypeId: await createType("Control", 10) };
  for (let i = 0; i < BOOKINGS; i += 1) {
    const patientId = await registerPatient(call);
    const dates = { dateFrom: dateIn(1), dateTo: dateIn(30) };
    const { options } = await call(`${SCHEDULING}/SearchAppointmentOptions`, { patientId, serviceId, ...dates });
    await call(`${SCHEDULING}/BookAppointment`, { patientId, optionToken: options[0].optionToken, ...ids });
  }
  return { longTypeId, ...ids };
}

async function registerPatient(call) {
  const { patient } = await call("cupo.access.v1.PatientService/RegisterPatient", {
    documentType: "CC",
    documentNumber: randomUUID().slice(0, 23),
    fullName: "Ana María Pérez",
    phone: "+57 300 555 0100",
    consentGrantedAt: "2026-01-01T00:00:00Z",
  });
  return patient.id;
}

/** A local date so many days after today, YYYY-MM-DD. */
export function dateIn(days) {
  return new Date(Date.now() - 5 * 3_600_000 + days * 86_400_000).toISOString().slice(0, 10);
}
