import { invalidPageToken } from "../../errors.js";
import { isLocalDate } from "../../scheduling/local-date.js";
import type { Page } from "./pages.js";
import { parseOpaqueId } from "./preconditions.js";

/**
 * Returns the last id of the previous page, for lists ordered by id; undefined for the first page. Throws 422 if the
 * key in the page token is not an id.
 */
export function idAfter(page: Page): string | undefined {
  return keyAfter(page, parseOpaqueId);
}

/**
 * Returns the last date of the previous page, for lists ordered by date; undefined for the first page. Throws 422 if
 * the key in the page token is not a date.
 */
export function dateAfter(page: Page): string | undefined {
  return keyAfter(page, (date) => (isLocalDate(date) ? date : undefined));
}

/**
 * For lists of the changes of one resource, ordered by version: returns the version of the last item on the previous
 * page; 0 for the first page. Throws 422 if the key in the page token is not a version.
 */
export function versionAfter(page: Page): number {
  return Number(keyAfter(page, (version) => (/^[1-9]\d{0,8}$/.test(version) ? version : undefined)) ?? 0);
}

/**
 * Returns the last date and id of the previous page, for lists ordered by date, then id; undefined for the first page.
 * Throws 422 if the key in the page token is not a date and an id.
 */
export function dateAndIdAfter({ after }: Page): { readonly date: string; readonly id: string } | undefined {
  if (after === undefined) return undefined;
  const [date = "", id = ""] = after;
  if (after.length !== 2 || !isLocalDate(date) || parseOpaqueId(id) === undefined) throw invalidPageToken();
  return { date, id };
}

/**
 * Returns the last start and id of the previous page, for lists ordered by start, then id; undefined for the first
 * page. Throws 422 if the key in the page token is not a start and an id.
 */
export function startAfter({ after }: Page): { readonly startsAt: Date; readonly id: string } | undefined {
  if (after === undefined) return undefined;
  const [start = "", id = ""] = after;
  const startsAt = new Date(start);
  if (after.length !== 2 || Number.isNaN(startsAt.getTime()) || parseOpaqueId(id) === undefined)
    throw invalidPageToken();
  return { startsAt, id };
}

/**
 * Returns where the previous page ended in the index of search words: the search prefix, and the word and id of the
 * last row. Undefined for the first page. Throws 422 if the page token does not hold these three texts.
 */
export function wordAfter({ after }: Page): Readonly<Record<"wanted" | "word" | "id", string>> | undefined {
  if (after === undefined) return undefined;
  const [wanted = "", word = "", id = ""] = after;
  if (after.length !== 3 || !word.startsWith(wanted) || parseOpaqueId(id) === undefined) throw invalidPageToken();
  return { wanted, word, id };
}

/**
 * For lists of the changes of several appointments. Returns the appointment id and the version of the last change on
 * the previous page; undefined for the first page. Throws 422 if the key in the page token is not an id and a version.
 */
export function changeAfter({ after }: Page): { readonly appointmentId: string; readonly version: number } | undefined {
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
