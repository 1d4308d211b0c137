import type { DeskPage } from "../../postgres/tables/desk/desk-lists.js";
import { endOfLocalDay, startOfLocalDay } from "../../scheduling/local-clock.js";
import { startAfter } from "../resources/page-keys.js";
import type { Page } from "../resources/pages.js";

/** The instants of a span of local dates, the second exclusive; undefined where the span has no such end. */
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

/** What to read for a page, one row more than it holds; 422 where the page token holds something else. */
export function deskPageOf(page: Page): DeskPage {
  const after = startAfter(page);
  return { after: after && { createdAt: after.startsAt, id: after.id }, limit: page.size + 1 };
}

/** The place of what a list of the desk holds. */
export function deskKeyOf({ createdAt, id }: { readonly createdAt: Date; readonly id: string }): readonly string[] {
  return [createdAt.toISOString(), id];
}
