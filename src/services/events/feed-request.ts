import type { Owner, Principal } from "../../call.js";
import { conflict, validationFailed } from "../../errors.js";
import type { Event_ResourceType } from "../../gen/cupo/clinic/v1/event_pb.js";
import { type EventRecord, type FeedCursor, type FeedPage, goesOn } from "../../postgres/tables/events/event-feed.js";
import { parseCursor } from "./event-cursor.js";
import { resourceTypeOf } from "./event-messages.js";

/** Selects the events that a stream of `watchEvents` receives. The stream reads the feed of the principal's tenant. */
export interface WatchFilter extends EventFilter {
  readonly principal: Principal;
}

/** Selects the events that a caller or a webhook receives. */
export interface EventFilter {
  /** The organization and company that the events must be visible to. */
  readonly principal: Owner;
  /** The resource types of the events. Empty for all types. */
  readonly resourceTypes: readonly Event_ResourceType[];
}

/** Returns the cursor of a request, or undefined if it has none. Throws 422 like {@link readCursor}. */
export function cursorOf({ cursor }: { readonly cursor?: string | undefined }): FeedCursor | undefined {
  return cursor === undefined ? undefined : readCursor(cursor);
}

/** Decodes the text of a cursor. Throws 422 if the text is not a cursor. */
export function readCursor(text: string): FeedCursor {
  const parsed = parseCursor(text);
  if (parsed !== undefined) return parsed;
  const message = "the value is not a cursor of this feed: use the cursor of an earlier answer, or begin without one";
  throw validationFailed([{ code: "INVALID_VALUE", field: "cursor", message }]);
}

/**
 * Requires that a page continues the feed after a cursor. Throws 409 in these cases:
 * - events after the cursor are no longer kept
 * - the cursor is from another feed, or the operator gave the feed a new id after the cursor was issued
 * - the position of the cursor is after the end of the feed, as can happen after a restore from a backup
 */
export function requireContinuation(page: FeedPage, cursor: FeedCursor): void {
  if (goesOn(page, cursor)) return;
  const message =
    "the events after this cursor are no longer kept: call ListEvents with start NOW, then read all resources again";
  throw conflict({ code: "OUT_OF_RANGE", field: "cursor", message });
}

/**
 * Returns whether an event is visible to the filter's principal and has a resource type of the filter. A filter without
 * resource types accepts all types.
 */
export function matchesFilter(event: EventRecord, { principal, resourceTypes }: EventFilter): boolean {
  return isVisible(event, principal) && (resourceTypes.length === 0 || resourceTypes.includes(resourceTypeOf(event)));
}

/**
 * Returns whether the principal can see an event. The organization of the event must be undefined or the principal's.
 * The same applies to the company.
 */
function isVisible({ organizationId, companyId }: EventRecord, principal: Owner): boolean {
  const isOwn = (owner: string | undefined, own: string | undefined) => owner === undefined || owner === own;
  return isOwn(organizationId, principal.organizationId) && isOwn(companyId, principal.companyId);
}
