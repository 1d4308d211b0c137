import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { ReadyCall } from "../../call.js";
import { type CupoError, type FieldError, type FieldErrorCode, validationFailed } from "../../errors.js";
import { findProgramOffer, type Offer } from "../../postgres/tables/appointments/offers.js";
import { healthcareServices, practitioners } from "../../postgres/tables/catalogs/reference-data.js";
import { findResource, type ResourceTable } from "../../postgres/tables/resources/resources.js";
import { programs, worksIn } from "../../postgres/tables/schedule/programs.js";
import { earliestStart, endOfBookableStarts, isBookableStart, minuteOf } from "../../scheduling/booking-times.js";
import { formatInstant } from "../../scheduling/local-clock.js";
import { inactive, missing } from "../resources/preconditions.js";

/** The program, practitioner and service of a booking that states its time and has no option token. */
export interface BookingTarget {
  readonly programId: string;
  readonly practitionerId: string;
  readonly serviceId: string;
}

/** One error item for each program, practitioner or service of a booking that is missing or not active. */
export interface TargetErrors {
  readonly missing: readonly FieldError[];
  readonly inactive: readonly FieldError[];
}

/**
 * Checks the program, the practitioner and the service of a booking. Returns an error item for each one that is
 * missing, and for each one that is not active. Resources that the principal may not see are reported as missing.
 */
export async function checkTarget(target: BookingTarget, call: ReadyCall): Promise<TargetErrors> {
  const [program, practitioner, service] = await Promise.all([
    isActive(call, programs, target.programId),
    isActive(call, practitioners, target.practitionerId),
    isActive(call, healthcareServices, target.serviceId),
  ]);
  const judged = [
    ["programId", program],
    ["practitionerId", practitioner],
    ["serviceId", service],
  ] as const;
  return {
    missing: judged.filter(([, active]) => active === undefined).map(([field]) => missing(field)),
    inactive: judged.filter(([, active]) => active === false).map(([field]) => inactive(field)),
  };
}

/**
 * How the program offers the service, and whether the practitioner works in the program. `offer` is undefined if the
 * caller cannot book the service there.
 */
export interface TargetOffer {
  readonly offer: Offer | undefined;
  readonly isMember: boolean;
}

/**
 * Reads how the program offers the service, and whether the practitioner works in the program. Send the locking
 * statements first: these reads must see each change that was committed before the rows were locked.
 */
export async function findTargetOffer(target: BookingTarget, call: ReadyCall): Promise<TargetOffer> {
  const [offer, isMember] = await Promise.all([
    findProgramOffer(call.transaction, call.principal, target),
    worksIn(call.transaction, target),
  ]);
  return { offer, isMember };
}

/**
 * Returns the id of the program's location. Throws 422 if the program does not offer the service at its location. Also
 * throws 422 if the practitioner does not work in the program or is not active.
 */
export function requireOffered({ offer, isMember }: TargetOffer, isPractitionerActive: boolean): string {
  if (offer === undefined)
    throw apart("serviceId", "the service is not offered in this program, or not at its location");
  if (!isMember || !isPractitionerActive) {
    throw apart("practitionerId", "the practitioner does not work in this program, or is not active");
  }
  return offer.locationId;
}

function apart(field: string, message: string): CupoError {
  return validationFailed([{ code: "INVALID_VALUE", field, message }]);
}

async function isActive(
  call: ReadyCall,
  table: ResourceTable<{ active: boolean }>,
  id: string,
): Promise<boolean | undefined> {
  return (await findResource(call.transaction, call.principal, table, id))?.active;
}

/** Returns the start of a booking, in milliseconds since the epoch. Defaults to the current minute. */
export function startOf(startsAt: Timestamp | undefined, nowMs: number): number {
  return startsAt === undefined ? minuteOf(nowMs) : timestampMs(startsAt);
}

/**
 * Throws 422 if the start of a request cannot be booked ({@link isBookableStart}). A request without a start passes.
 */
export function requireStart(
  { startsAt }: { readonly startsAt?: Timestamp | undefined },
  startMs: number,
  nowMs: number,
  horizonDays: number,
): void {
  if (startsAt === undefined || isBookableStart(startMs, nowMs, horizonDays)) return;
  const [earliest, end] = [earliestStart(nowMs), endOfBookableStarts(nowMs, horizonDays)].map(formatInstant);
  const message = `the value must be a whole minute, from ${earliest} and before ${end}`;
  throw invalid("startsAt", "OUT_OF_RANGE", message);
}

/** Returns a 422 error for one field. */
export function invalid(field: string, code: FieldErrorCode, message: string): CupoError {
  return validationFailed([{ code, field, message }]);
}
