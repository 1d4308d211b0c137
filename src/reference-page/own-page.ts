import type { HttpRequest } from "../request-log.js";
import { isLoopback } from "../settings/setting-kinds.js";

/**
 * Whether a request comes from a page of this listener, in a browser of this machine. One of another origin says so in
 * `Origin` and `Sec-Fetch-Site`; one whose name was bent to this address (DNS rebinding) has that name in both `Origin` and
 * `Host`, so that only loopback names count; and what a proxy hands on may come from anywhere.
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
