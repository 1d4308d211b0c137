import { createHash } from "node:crypto";
import { type CupoError, validationFailed } from "../../errors.js";

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

/**
 * The page that a request asks for. A token stands for the place where the page before it ended, and is good for the same
 * list with the same filters only: anything else is 422 on pageToken. `list` and `filters` say which list this is.
 */
export function readPage(request: PageRequest, list: string, filters: readonly unknown[] = []): Page {
  const size = request.pageSize === undefined || request.pageSize === 0 ? DEFAULT_SIZE : request.pageSize;
  if (request.pageToken === undefined || request.pageToken === "") return { size, after: undefined };
  const [fingerprint, ...after] = parseToken(request.pageToken);
  if (fingerprint !== fingerprintOf(list, filters, after) || after.length === 0) throw invalidPageToken();
  return { size, after };
}

/**
 * The rows of a page, of which one more than fits may have been read, and `next`, to be spread into the response: it holds
 * the token of the next page, or nothing on the last one.
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
  const key = keyOf(last);
  const parts = [fingerprintOf(list, filters, key), ...key];
  const nextPageToken = Buffer.from(JSON.stringify(parts)).toString("base64url");
  return { rows: rows.slice(0, size), next: { nextPageToken } };
}

function parseToken(token: string): string[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(token, "base64url").toString());
    if (Array.isArray(parts) && parts.every((part) => typeof part === "string")) return parts;
  } catch {
    throw invalidPageToken();
  }
  throw invalidPageToken();
}

function fingerprintOf(list: string, filters: readonly unknown[], key: readonly string[]): string {
  return createHash("sha256")
    .update(JSON.stringify([list, filters, key]))
    .digest("base64url")
    .slice(0, 16);
}

/** 422 for a page token that this list did not give. */
export function invalidPageToken(): CupoError {
  const message = "the token is not one that this list gave for these filters";
  return validationFailed([{ code: "INVALID_VALUE", field: "pageToken", message }]);
}
