import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { DisplacedAppointmentService } from "../../src/gen/cupo/clinic/v1/displaced_appointment_service_pb.js";
import * as fixtures from "../contract/fixtures.js";
import { bookFirst, type Clinic, day, mustCall, openClinic } from "../schedule/clinic.js";
import { brokenInvariants, foundByTheService } from "../schedule/invariants.js";
import { scheduleDifferences } from "../schedule/schedule-differences.js";
import type { TestService } from "../support/service.js";
import { walkPages } from "./rpc-under-test.js";

const { listDisplacedAppointments } = DisplacedAppointmentService.method;

/** The outcome for one appointment. */
export interface Outcome {
  readonly appointmentId: string;
  readonly appointment?: Readonly<Record<string, unknown>>;
  readonly refusal?: string;
}

/** Books `count` slots of a practitioner from 8:00 on, on the day after tomorrow, each for another patient. */
export async function bookSeveral(
  clinic: Clinic,
  count: number,
  practitionerId = `${clinic.practitionerIds[0]}`,
): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1) {
    const patientId = await fixtures.createPatient(clinic.service, {}, clinic.as);
    ids.push((await bookFirst(clinic, patientId, { practitionerId })).appointmentId);
  }
  return ids;
}

/** Blocks a practitioner on the day after tomorrow. Returns the block's id. */
export async function fallIll(clinic: Clinic, practitionerId = `${clinic.practitionerIds[0]}`): Promise<string> {
  const times = { startsAt: `${day(clinic, 2)}T00:00:00-05:00`, endsAt: `${day(clinic, 3)}T00:00:00-05:00` };
  const { scheduleBlock } = await mustCall(clinic, "CreateScheduleBlock", {
    practitionerId,
    kind: "ILLNESS",
    ...times,
  });
  return (scheduleBlock as { scheduleBlockId: string }).scheduleBlockId;
}

/** Returns the ids of the displaced appointments that match a request. */
export async function listed(clinic: Clinic, request: JsonObject = {}): Promise<unknown[]> {
  const { as } = clinic;
  const pages = await walkPages(
    clinic.service,
    listDisplacedAppointments,
    "appointments",
    { ...request, pageSize: 1 },
    { as },
  );
  return pages.flat().map(({ appointmentId }) => appointmentId);
}

/** Calls an RPC that must succeed. Returns the outcomes for the appointments. */
export async function outcomesOf(clinic: Clinic, rpc: string, request: JsonObject): Promise<readonly Outcome[]> {
  return (await mustCall(clinic, rpc, request))["outcomes"] as unknown as readonly Outcome[];
}

/** Builds choices of appointments at a version. */
export function choicesOf(ids: readonly string[], expectedVersion = 1) {
  return ids.map((appointmentId) => ({ appointmentId, expectedVersion }));
}

/** Requires that bookings and slots break no invariant. */
export async function expectSoundness(clinic: Clinic): Promise<void> {
  expect(await brokenInvariants(clinic.service)).toEqual([]);
  expect([await scheduleDifferences(clinic.service), await foundByTheService(clinic.service)]).toEqual([[], []]);
}

/** Activates or deactivates the first practitioner. */
export async function setPractitioner(clinic: Clinic, active: boolean): Promise<void> {
  const [id] = clinic.practitionerIds;
  const { practitioner } = await mustCall(clinic, "GetPractitioner", { practitionerId: `${id}` });
  const expectedVersion = Number((practitioner as JsonObject)["version"]);
  await mustCall(clinic, "UpdatePractitioner", { practitionerId: `${id}`, active, expectedVersion });
}

/** Activates or deactivates the location. */
export async function setLocation(clinic: Clinic, active: boolean): Promise<void> {
  const locationId = await locationOf(clinic);
  const { location } = await mustCall(clinic, "GetLocation", { locationId });
  const expectedVersion = Number((location as JsonObject)["version"]);
  await mustCall(clinic, "UpdateLocation", { locationId, active, expectedVersion });
}

/** Deactivates a new program, or activates it again afterwards. */
export async function setProgram(clinic: Clinic, active: boolean): Promise<void> {
  const { programId } = clinic;
  await mustCall(clinic, "UpdateProgram", { programId, active, expectedVersion: active ? 2 : 1 });
}

/** Returns the program's location. */
export async function locationOf(clinic: Clinic): Promise<string> {
  const { program } = await mustCall(clinic, "GetProgram", { programId: clinic.programId });
  return (program as { locationId: string }).locationId;
}

/** Returns an appointment as staff see it. */
export async function appointmentOf(clinic: Clinic, appointmentId: string): Promise<unknown> {
  return (await mustCall(clinic, "GetAppointment", { appointmentId }))["appointment"];
}

/** Returns the id of the first block. */
export async function blockIn(clinic: Clinic): Promise<string> {
  const { scheduleBlocks } = await mustCall(clinic, "ListScheduleBlocks", {});
  return `${(scheduleBlocks as { scheduleBlockId: string }[])[0]?.scheduleBlockId}`;
}

/** Books an appointment in another clinic. */
export async function bookElsewhere(clinic: Clinic) {
  const other = await openClinic(clinic.service);
  return bookFirst(other, await fixtures.createPatient(clinic.service));
}

/** Returns the number of free slots. */
export async function countOpen(clinic: Clinic): Promise<number> {
  const { materialization } = await mustCall(clinic, "GetMaterializationStatus", { programId: clinic.programId });
  return Number((materialization as JsonObject)["openSlotCount"]);
}

/** Opens a clinic with two practitioners in a new tenant. `rule` changes its rule. */
export async function openDisplacedClinic(service: TestService, rule: JsonObject = {}): Promise<Clinic> {
  const as = { tenantId: randomUUID() };
  const practitionerIds = await Promise.all([1, 2].map(() => fixtures.practitioner.create(service, as)));
  return openClinic(service, { as, practitionerIds: practitionerIds.toSorted(), rule });
}
