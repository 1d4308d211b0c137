import type { JsonObject } from "@bufbuild/protobuf";
import * as fixtures from "../contract/fixtures.js";
import { type Clinic, day, openClinic } from "../schedule/clinic.js";
import type { TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";

/** A clinic whose service was away this morning. `at` returns a time of today in Bogotá. */
export interface Morning {
  readonly clinic: Clinic;
  readonly reason: string;
  at(time: string, daysAgo?: number): string;
  /** Stops the service's clock at a time of today, or of a later day. */
  goTo(time: string, daysLater?: number): void;
}

/** Opens a clinic at 07:30, whose slots of half an hour begin at 8:00 and end at 12:00. */
export async function openMorning(service: TestService, as: TokenFor = {}, rule: JsonObject = {}): Promise<Morning> {
  const today = day({ service }, 0);
  const at = (time: string, daysAgo = 0) => {
    const ms = Date.parse(`${today}T${time}:00-05:00`) - daysAgo * 86_400_000;
    return new Date(ms).toISOString();
  };
  const goTo = (time: string, daysLater = 0) => service.stopAt(Date.parse(at(time, -daysLater)));
  goTo("07:30");
  const clinic = await openClinic(service, { as, rule });
  return { clinic, reason: "Sin energía toda la mañana.", at, goTo };
}

/** Builds a request to enter a visit from 8:00 to 8:30 of a new patient who was seen, with these changes. */
export async function lateVisit(
  { clinic, at, reason }: Pick<Morning, "clinic" | "at" | "reason">,
  changes: JsonObject = {},
): Promise<JsonObject> {
  const { service, as, programId, serviceId, requestSourceId, appointmentTypeId, practitionerIds } = clinic;
  const seen = changes["noShowAt"] === undefined ? { arrivedAt: at("07:50"), attendedAt: at("08:05") } : {};
  return {
    patientId: changes["patientId"] ?? (await fixtures.createPatient(service, {}, as)),
    programId,
    practitionerId: `${practitionerIds[0]}`,
    serviceId,
    requestSourceId,
    appointmentTypeId,
    startsAt: at("08:00"),
    durationMinutes: 30,
    reason,
    ...seen,
    ...changes,
  };
}
