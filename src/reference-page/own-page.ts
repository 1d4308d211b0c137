import type { HttpRequest } from "../request-log.js";
import { isLoopback } from "../settings/setting-kinds.js";

/**
 * Returns whether a request comes from a page of this listener in a browser on this machine. Returns false for:
 * - Requests from another machine.
 * - Requests from another origin, which `Origin` or `Sec-Fetch-Site` reveals, and requests without `Origin`.
 * - Requests by DNS rebinding. `Origin` and `Host` then contain the attacker's host name, so only loopback names are
 *   accepted.
 * - Requests with `Forwarded` or `X-Forwarded-For`: a proxy sent them, and they may come from anywhere.
 */
export function isFromOwnPage({ headers, socket }: HttpRequest): boolean {
  const site = headers["sec-fetch-site"] ?? "same-origin";
  if (site !== "same-origin" || headers["forwarded"] !== undefined || headers["x-forwarded-for"] !== undefined)
    return false;
  if (!isLoopback(socket.remoteAddress?.replace(/^::ffff:/, "") ?? "")) return false;
  const { origin = "" } = headers;
  if (!URL.canParse(origin)) return false;
  const { host, hostname } = new URL(origin);
  return isLoopback(hostname) && host === (headers[":authority"] ?? headers.host);
}
