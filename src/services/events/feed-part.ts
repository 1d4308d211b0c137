import type { Principal } from "../../call.js";
import { conflict, validationFailed } from "../../errors.js";
import type { Event_ResourceType } from "../../gen/cupo/clinic/v1/event_pb.js";
import { type EventRecord, type FeedPage, type FeedPlace, goesOn } from "../../postgres/tables/events/event-feed.js";
import { parseCursor } from "./event-cursor.js";
import { resourceTypeOf } from "./event-messages.js";

/** Which events a caller is given. */
export interface Wish {
  readonly principal: Principal;
  /** Empty for all. */
  readonly resourceTypes: readonly Event_ResourceType[];
}

/** The place of the cursor of a request; undefined where it has none, 422 where it has something else. */
export function placeOf({ cursor }: { readonly cursor?: string | undefined }): FeedPlace | undefined {
  if (cursor === undefined) return undefined;
  const place = parseCursor(cursor);
  if (place !== undefined) return place;
  const message = "the value is no cursor of this feed";
  throw validationFailed([{ code: "INVALID_VALUE", field: "cursor", message }]);
}

/** Requires that a page that was read behind a place goes on from it: 409 where the feed does not go back as far. */
export function requireContinuation(page: FeedPage, place: FeedPlace): void {
  if (goesOn(page, place)) return;
  const message = "the feed does not go back to this cursor any more: read everything anew, and begin without one";
  throw conflict({ code: "OUT_OF_RANGE", field: "cursor", message });
}

/** Whether a caller wishes for an event and may know of it. */
export function isWished(event: EventRecord, { principal, resourceTypes }: Wish): boolean {
  return isVisible(event, principal) && (resourceTypes.length === 0 || resourceTypes.includes(resourceTypeOf(event)));
}

/** As the resource itself: each of its organization and company is none or that of the caller. */
function isVisible({ organizationId, companyId }: EventRecord, principal: Principal): boolean {
  const isOwn = (owner: string | undefined, own: string | undefined) => owner === undefined || owner === own;
  return isOwn(organizationId, principal.organizationId) && isOwn(companyId, principal.companyId);
}
