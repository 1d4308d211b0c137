import type { ReadyCall } from "../../call.js";
import { conflict } from "../../errors.js";
import type { MatchWaitlistEntryRequestValid } from "../../gen/cupo/clinic/v1/booking_service_pb.js";
import { WaitlistEntryDetails_Period } from "../../gen/cupo/clinic/v1/waitlist_entry_details_pb.js";
import type { OptionTokens } from "../../option-tokens/option-tokens.js";
import { findWaitlistEntry } from "../../postgres/tables/desk/waitlist.js";
import { valueNamed } from "../resources/enum-names.js";
import { requireFound } from "../resources/preconditions.js";
import { findOptions } from "./option-search.js";

/**
 * Returns one page of the options that match a waitlist entry. Omits emergency programs. Throws 404 if the entry does
 * not exist, and 409 if it is closed. Then throws 404, 409 or 422 like {@link findOptions}.
 */
export async function matchWaitlistEntry(
  request: MatchWaitlistEntryRequestValid,
  call: ReadyCall,
  tokens: OptionTokens,
  nowMs: number,
): ReturnType<typeof findOptions> {
  const entry = requireFound(await findWaitlistEntry(call.transaction, request.waitlistEntryId), "waitlistEntryId");
  const field = "waitlistEntryId";
  if (entry.closedAt !== undefined)
    throw conflict({ code: "STATE_NOT_ALLOWED", field, message: "the waitlist entry is closed" });
  const { patientId, serviceId, dateFrom, dateTo, locationId, practitionerId, dueOn } = entry;
  const criteria = {
    patientId,
    appointmentId: undefined,
    serviceId,
    dateFrom,
    dateTo,
    periods: entry.preferredPeriods.map((name) => valueNamed(WaitlistEntryDetails_Period, name)),
    locationId,
    practitionerId,
    includeEmergency: false,
    dueOn,
    appointmentTypeId: request.appointmentTypeId,
    subjectField: field,
  } as const;
  return findOptions(criteria, request, call, tokens, nowMs);
}
