import { parseTimeout as parseConnectTimeout } from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpcTimeout } from "@connectrpc/connect/protocol-grpc";
import type { Protocol } from "./incoming.js";

/** The headers that a caller's time limit is in. */
export const timeLimitHeaders: Readonly<Record<Protocol, string>> = {
  connect: "Connect-Timeout-Ms",
  grpc: "Grpc-Timeout",
  "grpc-web": "Grpc-Timeout",
};

/**
 * A caller's time limit in whole milliseconds, at most `maxMs`: a longer one is cut and not refused, because a caller who
 * would wait longer has lost nothing. undefined where there is none, "bad" for a header that is not as its protocol says.
 */
export function readTimeLimit(headers: Headers, protocol: Protocol, maxMs: number): number | "bad" | undefined {
  const parse = protocol === "connect" ? parseConnectTimeout : parseGrpcTimeout;
  const { timeoutMs, error } = parse(headers.get(timeLimitHeaders[protocol]), Number.POSITIVE_INFINITY);
  if (error !== undefined) return "bad";
  return timeoutMs === undefined ? undefined : Math.min(Math.ceil(timeoutMs), maxMs);
}
