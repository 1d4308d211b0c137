import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { RetainedAppointmentService } from "../../src/gen/cupo/clinic/v1/retained_appointment_service_pb.js";
import * as makers from "../contract/makers.js";
import { bookFirst, type Clinic, day, mustCall, openClinic } from "../schedule/clinic.js";
import { brokenInvariants, foundByTheService } from "../schedule/invariants.js";
import { scheduleDifferences } from "../schedule/schedule-differences.js";
import type { TestService } from "../support/service.js";
import { walkPages } from "./rpc-under-test.js";

const { listRetainedAppointments } = RetainedAppointmentService.method;

/** What became of one appointment. */
export interface Outcome {
  readonly appointmentId: string;
  readonly appointment?: Readonly<Record<string, unknown>>;
  readonly refusal?: string;
}

/** Books so many slots of a practitioner from 8:00 on, on the day after tomorrow, each for another patient. */
export async function bookSeveral(
  clinic: Clinic,
  count: number,
  practitionerId = `${clinic.practitionerIds[0]}`,
): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1) {
    const patientId = await makers.createPatient(clinic.service, {}, clinic.as);
    ids.push((await bookFirst(clinic, patientId, { practitionerId })).appointmentId);
  }
  return ids;
}

/** Blocks a practitioner on the day after tomorrow, and gives the block. */
export async function fallIll(clinic: Clinic, practitionerId = `${clinic.practitionerIds[0]}`): Promise<string> {
  const times = { startsAt: `${day(clinic, 2)}T00:00:00-05:00`, endsAt: `${day(clinic, 3)}T00:00:00-05:00` };
  const { scheduleBlock } = await mustCall(clinic, "CreateScheduleBlock", {
    practitionerId,
    kind: "ILLNESS",
    ...times,
  });
  return (scheduleBlock as { scheduleBlockId: string }).scheduleBlockId;
}

/** The ids of the retained appointments that a list gives. */
export async function listed(clinic: Clinic, request: JsonObject = {}): Promise<unknown[]> {
  const { as } = clinic;
  const pages = await walkPages(
    clinic.service,
    listRetainedAppointments,
    "appointments",
    { ...request, pageSize: 1 },
    { as },
  );
  return pages.flat().map(({ appointmentId }) => appointmentId);
}

/** What became of the appointments of a request that is to succeed. */
export async function outcomesOf(clinic: Clinic, rpc: string, request: JsonObject): Promise<readonly Outcome[]> {
  return (await mustCall(clinic, rpc, request))["outcomes"] as unknown as readonly Outcome[];
}

/** Choices of appointments, as of a version. */
export function choicesOf(ids: readonly string[], expectedVersion = 1) {
  return ids.map((appointmentId) => ({ appointmentId, expectedVersion }));
}

/** Requires that nothing is wrong with bookings and slots. */
export async function expectSoundness(clinic: Clinic): Promise<void> {
  expect(await brokenInvariants(clinic.service)).toEqual([]);
  expect([await scheduleDifferences(clinic.service), await foundByTheService(clinic.service)]).toEqual([[], []]);
}

/** Has the first practitioner become active, or cease to be. */
export async function setPractitioner(clinic: Clinic, active: boolean): Promise<void> {
  const [id] = clinic.practitionerIds;
  const { practitioner } = await mustCall(clinic, "GetPractitioner", { practitionerId: `${id}` });
  const expectedVersion = Number((practitioner as JsonObject)["version"]);
  await mustCall(clinic, "UpdatePractitioner", { practitionerId: `${id}`, active, expectedVersion });
}

/** Has the location become active, or cease to be. */
export async function setLocation(clinic: Clinic, active: boolean): Promise<void> {
  const locationId = await locationOf(clinic);
  const { location } = await mustCall(clinic, "GetLocation", { locationId });
  const expectedVersion = Number((location as JsonObject)["version"]);
  await mustCall(clinic, "UpdateLocation", { locationId, active, expectedVersion });
}

/** Has a new program cease to be active, and then become it. */
export async function setProgram(clinic: Clinic, active: boolean): Promise<void> {
  const { programId } = clinic;
  await mustCall(clinic, "UpdateProgram", { programId, active, expectedVersion: active ? 2 : 1 });
}

/** Where the program is held. */
export async function locationOf(clinic: Clinic): Promise<string> {
  const { program } = await mustCall(clinic, "GetProgram", { programId: clinic.programId });
  return (program as { locationId: string }).locationId;
}

/** An appointment as staff see it. */
export async function appointmentOf(clinic: Clinic, appointmentId: string): Promise<unknown> {
  return (await mustCall(clinic, "GetAppointment", { appointmentId }))["appointment"];
}

/** The first block that there is. */
export async function blockIn(clinic: Clinic): Promise<string> {
  const { scheduleBlocks } = await mustCall(clinic, "ListScheduleBlocks", {});
  return `${(scheduleBlocks as { scheduleBlockId: string }[])[0]?.scheduleBlockId}`;
}

/** Books in another tenant. */
export async function bookElsewhere(clinic: Clinic) {
  const other = await openClinic(clinic.service);
  return bookFirst(other, await makers.createPatient(clinic.service));
}

/** How many slots are free. */
export async function countOpen(clinic: Clinic): Promise<number> {
  const { materialization } = await mustCall(clinic, "GetMaterializationStatus", { programId: clinic.programId });
  return Number((materialization as JsonObject)["openSlotCount"]);
}

/** A clinic with two practitioners, in a tenant of its own. */
export async function openRetainedClinic(service: TestService): Promise<Clinic> {
  const as = { tenantId: randomUUID() };
  const practitionerIds = await Promise.all([1, 2].map(() => makers.practitioner.create(service, as)));
  return openClinic(service, { as, practitionerIds: practitionerIds.toSorted() });
}
