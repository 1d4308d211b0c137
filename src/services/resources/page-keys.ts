import { invalidPageToken } from "../../errors.js";
import { isLocalDate } from "../../scheduling/local-date.js";
import type { Page } from "./pages.js";
import { parseOpaqueId } from "./preconditions.js";

/** The id that the page before ended with, for lists in the order of ids; 422 where the page token holds something else. */
export function idAfter(page: Page): string | undefined {
  return keyAfter(page, parseOpaqueId);
}

/** The date that the page before ended with, for lists in the order of dates; 422 where the token holds something else. */
export function dateAfter(page: Page): string | undefined {
  return keyAfter(page, (date) => (isLocalDate(date) ? date : undefined));
}

/** The version that the page before ended with, for histories; 0 for the first page, 422 for a token of something else. */
export function versionAfter(page: Page): number {
  return Number(keyAfter(page, (version) => (/^[1-9]\d{0,8}$/.test(version) ? version : undefined)) ?? 0);
}

/** Date and id of what the page before ended with, for lists in the order of dates, then of ids; 422 as above. */
export function dateAndIdAfter({ after }: Page): { readonly date: string; readonly id: string } | undefined {
  if (after === undefined) return undefined;
  const [date = "", id = ""] = after;
  if (after.length !== 2 || !isLocalDate(date) || parseOpaqueId(id) === undefined) throw invalidPageToken();
  return { date, id };
}

/** Start and id of what the page before ended with, for lists in the order of starts; 422 as above. */
export function startAfter({ after }: Page): { readonly startsAt: Date; readonly id: string } | undefined {
  if (after === undefined) return undefined;
  const [start = "", id = ""] = after;
  const startsAt = new Date(start);
  if (after.length !== 2 || Number.isNaN(startsAt.getTime()) || parseOpaqueId(id) === undefined)
    throw invalidPageToken();
  return { startsAt, id };
}

/** The place in an index of words that the page before ended with, behind what was looked up in it; 422 as above. */
export function wordAfter({ after }: Page): readonly [wanted: string, word: string, id: string] | undefined {
  if (after === undefined) return undefined;
  const [wanted = "", word = "", id = ""] = after;
  if (after.length !== 3 || !word.startsWith(wanted) || parseOpaqueId(id) === undefined) throw invalidPageToken();
  return [wanted, word, id];
}

/** The change of an appointment, one of several, that the page before ended with; 422 as above. */
export function placeOfChangeAfter({
  after,
}: Page): { readonly appointmentId: string; readonly version: number } | undefined {
  if (after === undefined) return undefined;
  const [appointmentId = "", version = ""] = after;
  if (after.length !== 2 || parseOpaqueId(appointmentId) === undefined || !/^[1-9]\d{0,8}$/.test(version))
    throw invalidPageToken();
  return { appointmentId, version: Number(version) };
}

function keyAfter({ after }: Page, parse: (key: string) => string | undefined): string | undefined {
  if (after === undefined) return undefined;
  const key = after.length === 1 ? parse(after[0] ?? "") : undefined;
  if (key === undefined) throw invalidPageToken();
  return key;
}
