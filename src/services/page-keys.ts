import { isLocalDate } from "../scheduling/local-date.js";
import { invalidPageToken, type Page } from "./pages.js";
import { parseOpaqueId } from "./preconditions.js";

/** The id that the page before ended with, for lists in the order of ids; 422 where the page token holds something else. */
export function idAfter(page: Page): string | undefined {
  return keyAfter(page, parseOpaqueId);
}

/** The date that the page before ended with, for lists in the order of dates; 422 where the token holds something else. */
export function dateAfter(page: Page): string | undefined {
  return keyAfter(page, (date) => (isLocalDate(date) ? date : undefined));
}

function keyAfter({ after }: Page, parse: (key: string) => string | undefined): string | undefined {
  if (after === undefined) return undefined;
  const key = after.length === 1 ? parse(after[0] ?? "") : undefined;
  if (key === undefined) throw invalidPageToken();
  return key;
}
