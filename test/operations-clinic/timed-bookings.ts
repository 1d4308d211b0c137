import type { JsonObject } from "@bufbuild/protobuf";
import * as fixtures from "../contract/fixtures.js";
import { type Clinic, day } from "../schedule/clinic.js";
import type { TestService } from "../support/service.js";

/** Builds a request that books the first slot of the day after tomorrow, 8:00 in Bogotá, with these changes. */
export async function timedBooking(clinic: Clinic, changes: JsonObject = {}): Promise<JsonObject> {
  const { programId, serviceId, requestSourceId, appointmentTypeId, practitionerIds } = clinic;
  const patientId = changes["patientId"] ?? (await fixtures.createPatient(clinic.service, {}, clinic.as));
  return {
    patientId,
    programId,
    practitionerId: `${practitionerIds[0]}`,
    serviceId,
    requestSourceId,
    appointmentTypeId,
    startsAt: at(clinic, "08:00"),
    ...changes,
  };
}

/** Returns a time of day in Bogotá on the day after tomorrow. */
export function at(clinic: Pick<Clinic, "service">, time: string): string {
  return `${day(clinic, 2)}T${time}:00-05:00`;
}

/** Slots of twenty minutes around the clock. */
export const AROUND_THE_CLOCK: JsonObject = {
  startsAtLocal: "00:00:00",
  endsAtLocal: "23:59:59",
  slotDurationMinutes: 20,
  dailyCapacity: 100,
};

/** Advances the service's clock to `minutes` after the start of a future slot. Returns its start. */
export async function moveIntoSlot(clinic: Clinic, minutes: number): Promise<string> {
  const { service, programId } = clinic;
  const [slot] = await service.query(
    `SELECT starts_at FROM slots WHERE program_id = '${programId}' AND appointment_id IS NULL
     AND starts_at > '${new Date(service.now()).toISOString()}' ORDER BY starts_at LIMIT 1`,
  );
  const startsAt = slot?.["starts_at"] as Date;
  service.advance(startsAt.getTime() + minutes * 60_000 - service.now());
  return startsAt.toISOString();
}

/** Returns the sum of the tenant's day counters, and the number of slots without a rule. */
export async function countsOf({ query, tenantId }: TestService, { programId, as }: Clinic): Promise<JsonObject> {
  const tenant = `'${as.tenantId ?? tenantId}'`;
  const [row] = await query(
    `SELECT (SELECT coalesce(sum(booked), 0)::int FROM day_counters c JOIN program_rules r
       ON r.tenant_id = c.tenant_id AND r.id = c.rule_id WHERE c.tenant_id = ${tenant} AND r.program_id = '${programId}') AS counted,
     (SELECT count(*)::int FROM slots WHERE tenant_id = ${tenant} AND program_id = '${programId}'
       AND rule_id IS NULL) AS beside`,
  );
  return row as JsonObject;
}
