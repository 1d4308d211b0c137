import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { Client } from "pg";
import { onTestFinished } from "vitest";
import { type TimeEventPorts, writeTimeEvents } from "../../src/jobs/write-time-events.js";
import type { Database } from "../../src/postgres/database.js";
import * as fixtures from "../contract/fixtures.js";
import { type AppointmentBody, appointmentIn, book, type Clinic, mustCall, optionsFor } from "../schedule/clinic.js";
import { SESSIONS } from "../support/citus.js";
import { eventually } from "../support/eventually.js";
import type { TestService } from "../support/service.js";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const GRACE_MINUTES = 15;

/** An event of time in the feed: its type without `cupo.`, its resource and the resource's version. */
export type SeenEvent = readonly [type: string, resourceId: string, version: number];

/** A page of the feed, in its JSON form. */
interface EventPage {
  readonly events: readonly { readonly type: string; readonly resourceId: string; readonly resourceVersion?: number }[];
  readonly nextCursor: string;
  readonly hasMore?: boolean;
}

const TYPES = new Set(["appointment.reminder_due", "appointment.no_show_due", "waitlist_entry.expired"]);

/**
 * Runs the job once, at the service's clock, when no call is running. Returns the number of written events of all tenants.
 */
export function runJob(
  database: Database,
  { now }: Pick<TestService, "now">,
  ports: Partial<TimeEventPorts> = {},
  signal?: AbortSignal,
): Promise<number> {
  return writeTimeEvents({ database, now, noShowGraceMinutes: GRACE_MINUTES, callsEndMs: 0, ...ports }, signal);
}

/** Makes the tenant known to the job, which begins with what becomes due from now on. */
export async function begin(clinic: Pick<Clinic, "service" | "as">, database: Database): Promise<void> {
  await timeEvents(clinic);
  await runJob(database, clinic.service);
}

/** Returns the events of time in the tenant's feed, in its order. */
export async function timeEvents(clinic: Pick<Clinic, "service" | "as">): Promise<SeenEvent[]> {
  const seen: SeenEvent[] = [];
  let cursor: JsonObject = {};
  for (;;) {
    const page = (await mustCall(clinic, "ListEvents", { pageSize: 200, ...cursor })) as unknown as EventPage;
    for (const { type, resourceId, resourceVersion } of page.events) {
      const name = type.replace("cupo.", "");
      if (TYPES.has(name)) seen.push([name, resourceId, Number(resourceVersion)]);
    }
    if (page.hasMore !== true) return seen;
    cursor = { cursor: page.nextCursor };
  }
}

/** Books an option of a day for a patient, the first one unless `skip` is given. */
export async function bookOn(clinic: Clinic, patientId: string, date: string, skip = 0): Promise<AppointmentBody> {
  const options = await optionsFor(clinic, { patientId, dateFrom: date, dateTo: date });
  return appointmentIn(await book(clinic, patientId, String(options[skip % options.length]?.optionToken)));
}

/** Moves an appointment to an option of a day and returns its new start, in milliseconds since the epoch. */
export async function moveTo(
  clinic: Clinic,
  { appointmentId, version }: Pick<AppointmentBody, "appointmentId" | "version">,
  date: string,
  skip = 0,
): Promise<number> {
  const options = await optionsFor(clinic, { appointmentId, dateFrom: date, dateTo: date });
  const option = options[skip % options.length];
  const optionToken = String(option?.optionToken);
  await mustCall(clinic, "RescheduleAppointment", { appointmentId, optionToken, expectedVersion: version });
  return Date.parse(String(option?.startsAt));
}

/** Cancels an appointment. */
export async function cancel(
  clinic: Clinic,
  { appointmentId, version }: Pick<AppointmentBody, "appointmentId" | "version">,
): Promise<void> {
  const cancellationReasonId = await fixtures.cancellationReason.create(clinic.service, clinic.as);
  await mustCall(clinic, "CancelAppointment", { appointmentId, expectedVersion: version, cancellationReasonId });
}

/** Returns a principal of a tenant of its own. */
export function newTenant(): { readonly tenantId: string } {
  return { tenantId: randomUUID() };
}

/** Registers a patient of the clinic's tenant and returns the id. */
export async function newPatient({ service, as }: Pick<Clinic, "service" | "as">): Promise<string> {
  return (await fixtures.registerPatient(service, {}, as)).id;
}

const waitingIn = (view: string) => `FROM ${view} WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** The connections that wait for a lock, after SELECT and its columns; on Citus, only those of the coordinator. */
export const WAITING = waitingIn("pg_stat_activity");

/** Resolves when a connection waits for a lock. */
export async function waitingForLock(service: TestService): Promise<void> {
  await eventually(async () => (await service.query(`SELECT 1 ${waitingIn(SESSIONS)}`)).length > 0);
}

/** Locks an appointment or an entry as a call that changes it does, on a connection of its own, until the test ends. */
export async function holdRow(
  { service, as }: Clinic,
  table: "appointments" | "waitlist_entries",
  id: string,
): Promise<Client> {
  const holder = new Client(service.databaseUrl);
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query(`BEGIN; SET LOCAL cupo.tenant_id = '${as.tenantId}'`);
  await holder.query(`SELECT FROM ${table} WHERE tenant_id = '${as.tenantId}' AND id = '${id}' FOR NO KEY UPDATE`);
  return holder;
}
