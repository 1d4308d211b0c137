import type { JsonObject } from "@bufbuild/protobuf";
import * as fixtures from "../contract/fixtures.js";
import { type Clinic, call, optionsFor } from "../schedule/clinic.js";
import type { RestAnswer } from "../support/rest-request.js";

/** A hold, in its JSON form. */
export interface HoldBody extends JsonObject {
  readonly holdId: string;
  readonly patientId: string;
  readonly practitionerId: string;
  readonly startsAt: string;
  readonly endsAt: string;
  readonly expiresAt: string;
  readonly optionToken: string;
}

/** Sends a request to hold an option. */
export function hold(clinic: Clinic, optionToken: string, changes: JsonObject = {}): Promise<RestAnswer> {
  return call(clinic, "HoldAppointmentOption", { optionToken, ...changes });
}

/** Returns the hold in an answer. Throws if the answer is an error. */
export function holdIn({ status, text, body }: RestAnswer): HoldBody {
  if (status !== 200) throw new Error(`a hold was expected, but the answer is ${text}`);
  return body["hold"] as HoldBody;
}

/** Holds the first option that a search finds, or a later one. */
export async function holdFirst(clinic: Clinic, request: JsonObject = {}, skip = 0): Promise<HoldBody> {
  const subject = "appointmentId" in request ? {} : { patientId: await patientFor(clinic, request) };
  const options = await optionsFor(clinic, { ...request, ...subject });
  return holdIn(await hold(clinic, `${options[skip]?.optionToken}`));
}

async function patientFor({ service, as }: Clinic, { patientId }: JsonObject): Promise<string> {
  return typeof patientId === "string" ? patientId : fixtures.createPatient(service, {}, as);
}

/** Returns the sums of booked units and of all held ones of a clinic's rule, live or past. */
export async function unitsOf({ service, ruleId }: Clinic): Promise<JsonObject> {
  const [row] = await service.query(
    `SELECT coalesce(sum(booked), 0)::int AS booked, coalesce(sum(cardinality(held)), 0)::int AS held
     FROM day_counters WHERE rule_id = '${ruleId}'`,
  );
  return row as JsonObject;
}

/** Returns how many holds are counted for the clients of the clinic's tenant, live or past. */
export async function countedOf({ service, as }: Clinic): Promise<number> {
  const [row] = await service.query(
    `SELECT sum(cardinality(held))::int AS counted FROM hold_holders WHERE tenant_id = '${as.tenantId ?? service.tenantId}'`,
  );
  return Number(row?.["counted"]);
}
