import type { ReadyCall } from "../../call.js";
import { unknownReferences, validationFailed } from "../../errors.js";
import type { ChangeWaitlistEntryRequestValid } from "../../gen/cupo/clinic/v1/desk_service_pb.js";
import { WaitlistEntryDetails_Period } from "../../gen/cupo/clinic/v1/waitlist_entry_details_pb.js";
import { locations, practitioners } from "../../postgres/tables/catalogs/reference-data.js";
import {
  type DeskWaitlistEntryRecord,
  lockWaitlistEntry,
  type Wish,
  writeWish,
} from "../../postgres/tables/desk/waitlist.js";
import { findResource, type ResourceTable } from "../../postgres/tables/resources/resources.js";
import { nameIn } from "../resources/enum-names.js";
import { inactive, missing, requireFound, requireVersion } from "../resources/preconditions.js";
import { stateNotAllowed } from "./closing.js";
import { refusePastRange } from "./waitlist-service.js";

/**
 * The highest number of previous wishes (dates, periods, location and practitioner) that a waitlist entry keeps. A
 * further change of the wish is rejected with 409.
 */
const MAX_EARLIER = 100;

/**
 * Replaces the wish of an active waitlist entry: its dates, periods, location and practitioner. Returns the changed
 * entry. The entry keeps its position in the waitlist and lists its previous wishes.
 *
 * Throws, in this order:
 * - 422 if `dateTo` is before today
 * - 404 for an unknown entry, location or practitioner
 * - 409 for a stale version, a closed entry, or an entry whose wish has changed {@link MAX_EARLIER} times
 * - 422 for a location or practitioner that is not active
 */
export async function changeWish(
  request: ChangeWaitlistEntryRequestValid,
  call: ReadyCall,
  nowMs: number,
): Promise<DeskWaitlistEntryRecord> {
  const { transaction, principal, actor } = call;
  refusePastRange(request.dateTo, nowMs);
  const [found, location, practitioner] = await Promise.all([
    lockWaitlistEntry(transaction, request.waitlistEntryId),
    findReference(call, locations, request.locationId),
    findReference(call, practitioners, request.practitionerId),
  ]);
  const entry = requireFound(found, "waitlistEntryId");
  const given = [
    ["locationId", location],
    ["practitionerId", practitioner],
  ] as const;
  const absent = given.filter(([, active]) => active === undefined).map(([field]) => missing(field));
  if (absent.length > 0) throw unknownReferences(absent);
  requireVersion(entry, request.expectedVersion);
  requireChangeable(entry);
  const unusable = given.filter(([, active]) => active === false).map(([field]) => inactive(field));
  if (unusable.length > 0) throw validationFailed(unusable);
  const replaced = { replacedAt: new Date(nowMs).toISOString(), replacedBy: principal.id, replacedByActor: actor };
  const changed: DeskWaitlistEntryRecord = {
    ...entry,
    ...wishIn(request),
    earlierWishes: [...(entry.earlierWishes ?? []), { ...wishOf(entry), ...replaced }],
    version: entry.version + 1,
  };
  writeWish(transaction, changed);
  const { id: resourceId, version } = changed;
  call.effects.push({ resourceType: "WaitlistEntry", resourceId, action: "UPDATE", version });
  return changed;
}

/**
 * Returns whether a resource is active. Returns true if `id` is undefined, and undefined if the caller sees no such
 * resource.
 */
async function findReference(
  { transaction, principal }: ReadyCall,
  table: ResourceTable<{ active: boolean }>,
  id: string | undefined,
): Promise<boolean | undefined> {
  return id === undefined || (await findResource(transaction, principal, table, id))?.active;
}

function requireChangeable({ deskStatus, earlierWishes = [] }: DeskWaitlistEntryRecord): void {
  if (deskStatus === "CLOSED") throw stateNotAllowed("waitlistEntryId", "the entry is closed");
  if (earlierWishes.length < MAX_EARLIER) return;
  throw stateNotAllowed("waitlistEntryId", `the wish has changed ${MAX_EARLIER} times, the most that are allowed`);
}

function wishIn({ preferredPeriods, ...request }: ChangeWaitlistEntryRequestValid): Wish {
  const periods = preferredPeriods.map((period) => nameIn(WaitlistEntryDetails_Period, period));
  return wishOf({ ...request, preferredPeriods: periods });
}

function wishOf({
  dateFrom,
  dateTo,
  preferredPeriods,
  locationId,
  practitionerId,
}: Partial<Wish> & Required<Pick<Wish, "dateFrom" | "dateTo" | "preferredPeriods">>): Wish {
  return { dateFrom, dateTo, preferredPeriods, locationId, practitionerId };
}
