import { createHash } from "node:crypto";
import { invalidPageToken } from "../../errors.js";

/** The part of a list request that is the same for every list (AIP-158). */
export interface PageRequest {
  readonly pageSize?: number | undefined;
  readonly pageToken?: string | undefined;
}

/** Which rows of a list to read. */
export interface Page {
  /** How many rows the page has at most. Read one more, to see whether another page follows. */
  readonly size: number;
  /** The sort key of the last row of the page before, part by part; undefined for the first page. */
  readonly after: readonly string[] | undefined;
}

const DEFAULT_SIZE = 50;
const MAX_SIZE = 200;

/** The size of the pages that a request asks for: 50 where it does not say, 200 where it asks for more (AIP-158). */
export function pageSizeOf({ pageSize }: Pick<PageRequest, "pageSize">): number {
  return Math.min(pageSize || DEFAULT_SIZE, MAX_SIZE);
}

/**
 * The page that a request asks for, of 200 rows where it asks for more (AIP-158). A place is where the page before it ended,
 * and good for the same list with the same filters only: anything else is 422 on pageToken. `list` and `filters` say which
 * list this is. A stage of the call has opened the token that was sent, so that a place is always one of {@link cutPage}.
 */
export function readPage(request: PageRequest, list: string, filters: readonly unknown[] = []): Page {
  const size = pageSizeOf(request);
  if (request.pageToken === undefined || request.pageToken === "") return { size, after: undefined };
  const [fingerprint, ...after] = parsePlace(request.pageToken);
  if (fingerprint !== fingerprintOf(list, filters) || after.length === 0) throw invalidPageToken();
  return { size, after };
}

/**
 * The rows of a page, of which one more than fits may have been read, and `next`, to be spread into the response: it holds
 * the place of the next page, which is sealed on its way to the caller, or nothing on the last one.
 */
export function cutPage<T>(
  rows: readonly T[],
  { size }: Page,
  keyOf: (row: T) => readonly string[],
  list: string,
  filters: readonly unknown[] = [],
): { readonly rows: readonly T[]; readonly next: { readonly nextPageToken?: string } } {
  const last = rows[size - 1];
  if (rows.length <= size || last === undefined) return { rows, next: {} };
  return { rows: rows.slice(0, size), next: nextFrom(keyOf(last), list, filters) };
}

/** The `next` of {@link cutPage} for a page that ends at this sort key, be there a row or not. */
export function nextFrom(key: readonly string[], list: string, filters: readonly unknown[] = []) {
  return { nextPageToken: JSON.stringify([fingerprintOf(list, filters), ...key]) };
}

function parsePlace(place: string): string[] {
  try {
    const parts: unknown = JSON.parse(place);
    if (Array.isArray(parts) && parts.every((part) => typeof part === "string")) return parts;
  } catch {
    throw invalidPageToken();
  }
  throw invalidPageToken();
}

function fingerprintOf(list: string, filters: readonly unknown[]): string {
  return createHash("sha256")
    .update(JSON.stringify([list, filters]))
    .digest("base64url")
    .slice(0, 16);
}
