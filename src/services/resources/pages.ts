import { createHash } from "node:crypto";
import { invalidPageToken } from "../../errors.js";

/** The fields that every list request has (AIP-158). */
export interface PageRequest {
  readonly pageSize?: number | undefined;
  readonly pageToken?: string | undefined;
}

/** One page of a list: how many rows to read, and after which row. */
export interface Page {
  /** The highest number of rows that the page can have. Read one row more to see whether another page follows. */
  readonly size: number;
  /** The sort key of the last row of the previous page, one text per column; undefined for the first page. */
  readonly after: readonly string[] | undefined;
}

const DEFAULT_SIZE = 50;
const MAX_SIZE = 200;

/** Returns the page size of a request: 50 by default, at most 200 (AIP-158). */
export function pageSizeOf({ pageSize }: Pick<PageRequest, "pageSize">): number {
  return Math.min(pageSize || DEFAULT_SIZE, MAX_SIZE);
}

/**
 * Returns the page that a request asks for (AIP-158). Throws 422 on pageToken if the token is from another list or from
 * other filters.
 *
 * `list` and `filters` identify the list. The page-tokens interceptor has already decrypted the token, so its content
 * always comes from {@link nextFrom}.
 */
export function readPage(request: PageRequest, list: string, filters: readonly unknown[] = []): Page {
  const size = pageSizeOf(request);
  if (request.pageToken === undefined || request.pageToken === "") return { size, after: undefined };
  const [fingerprint, ...after] = parseKey(request.pageToken);
  if (fingerprint !== fingerprintOf(list, filters) || after.length === 0) throw invalidPageToken();
  return { size, after };
}

/**
 * Cuts rows to the page size, and makes the token of the next page. Read up to one row more than the page size and pass
 * all rows: the additional row shows that another page follows.
 *
 * Spread `next` into the response. `next` has the page token of the next page; on the last page, `next` is an empty
 * object. The page-tokens interceptor encrypts the token before it is sent.
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

/**
 * Returns an object with the field `nextPageToken` of a response. The next page begins after the sort key `key`. The
 * list need not have a row with this key.
 */
export function nextFrom(key: readonly string[], list: string, filters: readonly unknown[] = []) {
  return { nextPageToken: JSON.stringify([fingerprintOf(list, filters), ...key]) };
}

function parseKey(position: string): string[] {
  try {
    const parts: unknown = JSON.parse(position);
    if (Array.isArray(parts) && parts.every((part) => typeof part === "string")) return parts;
  } catch {
    throw invalidPageToken();
  }
  throw invalidPageToken();
}

function fingerprintOf(list: string, filters: readonly unknown[]): string {
  return createHash("sha256")
    .update(JSON.stringify([list, filters], inOrderOfNames))
    .digest("base64url")
    .slice(0, 16);
}

/**
 * A replacer for JSON.stringify that sorts members by name. A page token then stays valid in another release, whose
 * code may list the members of the same filter in another order.
 */
function inOrderOfNames(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
