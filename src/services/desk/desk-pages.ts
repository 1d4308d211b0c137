import type { DeskPage } from "../../postgres/tables/desk/desk-lists.js";
import { endOfLocalDay, startOfLocalDay } from "../../scheduling/local-clock.js";
import { startAfter } from "../resources/page-keys.js";
import type { Page } from "../resources/pages.js";

/** Converts a range of local dates to instants. The returned end is exclusive. A missing date stays undefined. */
export function createdBetween({
  createdFrom,
  createdTo,
}: {
  readonly createdFrom?: string | undefined;
  readonly createdTo?: string | undefined;
}): { readonly createdFrom: Date | undefined; readonly createdTo: Date | undefined } {
  return {
    createdFrom: createdFrom === undefined ? undefined : new Date(startOfLocalDay(createdFrom)),
    createdTo: createdTo === undefined ? undefined : new Date(endOfLocalDay(createdTo)),
  };
}

/**
 * Returns the query of a page: the key after which to read, and the page size plus one as the limit. Throws 422 if the
 * key in the page token is not a time and an id.
 */
export function deskPageOf(page: Page): DeskPage {
  const after = startAfter(page);
  return { after: after && { createdAt: after.startsAt, id: after.id }, limit: page.size + 1 };
}

/** Returns the sort key of a waitlist entry or a case: its creation time, then its id. */
export function deskKeyOf({ createdAt, id }: { readonly createdAt: Date; readonly id: string }): readonly string[] {
  return [createdAt.toISOString(), id];
}
