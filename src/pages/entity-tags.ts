import type { HttpRequest } from "../request-log.js";

/**
 * Returns whether the `If-None-Match` of a request is `*` or contains this tag, weak or strong (RFC 9110, section
 * 13.1.2).
 */
export function hasAlready(request: HttpRequest, etag: string): boolean {
  const tags = request.headers["if-none-match"]?.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags?.some((tag) => tag === "*" || tag === etag) ?? false;
}
