import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import type { NodeResponse } from "../rest/send-response.js";
import { plainHeaders } from "../rest/web-headers.js";

/**
 * Sends an answer of many messages, each when the caller has taken the one before, and stops asking for them once the caller is
 * gone. One who takes nothing for `stalledMs` is cut off: what the stream holds would be held for as long as the connection
 * lives. Not the library's way of sending, which waits for ever then.
 */
export async function sendStream(
  { status, header, body, trailer }: UniversalServerResponse,
  response: NodeResponse,
  stalledMs: number,
): Promise<void> {
  for (const [name, value] of Object.entries(plainHeaders(header ?? new Headers()))) response.setHeader(name, value);
  response.writeHead(status);
  const sink: NodeJS.WritableStream = response;
  for await (const chunk of body ?? []) {
    if (isGone(response)) return;
    if (!sink.write(chunk) && !isGone(response)) await taken(response, stalledMs);
  }
  if (isGone(response)) return;
  if (trailer !== undefined) response.addTrailers(Object.fromEntries(trailer));
  response.end();
}

/** Ends a stream that was begun and that nobody takes, so that it gives back what it holds. */
export async function endUntaken({ body }: UniversalServerResponse): Promise<void> {
  for await (const _ of body ?? []) return;
}

/** Resolves when what was written is on its way, or there is nobody to take it. */
function taken(response: NodeResponse, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => response.destroy(), ms);
    const settle = () => {
      clearTimeout(timer);
      response.off("drain", settle).off("close", settle);
      resolve();
    };
    response.on("drain", settle).on("close", settle);
  });
}

function isGone(response: NodeResponse): boolean {
  return "stream" in response ? response.stream.destroyed : response.destroyed;
}
