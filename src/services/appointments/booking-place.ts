import type { ReadyCall } from "../../call.js";
import { type CupoError, type FieldError, validationFailed } from "../../errors.js";
import { findProgramOffer, type Offer } from "../../postgres/tables/appointments/offers.js";
import { healthcareServices, practitioners } from "../../postgres/tables/catalogs/reference-data.js";
import { findResource, type ResourceTable } from "../../postgres/tables/resources/resources.js";
import { programs, worksIn } from "../../postgres/tables/schedule/programs.js";
import { inactive, missing } from "./booking-references.js";

/** Where, by whom and what is booked, where no option says it. */
export interface BookingPlace {
  readonly programId: string;
  readonly practitionerId: string;
  readonly serviceId: string;
}

/** What was found of a place. */
export interface JudgedPlace {
  readonly missing: readonly FieldError[];
  readonly inactive: readonly FieldError[];
}

/** Looks at program, practitioner and service, as the principal sees them, each by itself. */
export async function judgePlace(place: BookingPlace, call: ReadyCall): Promise<JudgedPlace> {
  const [program, practitioner, service] = await Promise.all([
    isActive(call, programs, place.programId),
    isActive(call, practitioners, place.practitionerId),
    isActive(call, healthcareServices, place.serviceId),
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

/** How program, service and practitioner go together. */
export interface FoundPlace {
  readonly offer: Offer | undefined;
  readonly isMember: boolean;
}

/** Looks at how they go together; behind the locks, what has meanwhile become of the program is seen. */
export async function findTogether(place: BookingPlace, call: ReadyCall): Promise<FoundPlace> {
  const [offer, isMember] = await Promise.all([
    findProgramOffer(call.transaction, call.principal, place),
    worksIn(call.transaction, place),
  ]);
  return { offer, isMember };
}

/** The location of the program: 422 where the service is not offered there or the practitioner does not work in it. */
export function requireTogether({ offer, isMember }: FoundPlace, isPractitionerActive: boolean): string {
  if (offer === undefined)
    throw apart("serviceId", "the service is not offered in the program, or not at its location");
  if (!isMember || !isPractitionerActive) {
    throw apart("practitionerId", "the practitioner does not work in the program");
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
