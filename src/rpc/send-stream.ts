import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { type NodeResponse, plainHeaders } from "@cupo/connect-rest/node";

/**
 * Sends an answer of many messages. While the send buffer of the response is full, reads and sends no further message.
 * Stops when the caller disconnects. If a client does not read its answer in time, the HTTP server ends the answer.
 *
 * Connect's library has such a function, but that function never returns if the response closes while the send buffer
 * is full.
 */
export async function sendStream(
  { status, header, body, trailer }: UniversalServerResponse,
  response: NodeResponse,
): Promise<void> {
  for (const [name, value] of Object.entries(plainHeaders(header ?? new Headers()))) response.setHeader(name, value);
  response.writeHead(status);
  const sink: NodeJS.WritableStream = response;
  for await (const chunk of body ?? []) {
    if (isGone(response)) return;
    if (!sink.write(chunk) && !isGone(response)) await taken(response);
  }
  if (isGone(response)) return;
  if (trailer !== undefined) response.addTrailers(Object.fromEntries(trailer));
  response.end();
}

/** Closes a stream that has begun but has no reader, to release its resources. */
export async function endUntaken({ body }: UniversalServerResponse): Promise<void> {
  for await (const _ of body ?? []) return;
}

/** Resolves when the written data has left the buffer or the response has closed. */
function taken(response: NodeResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      response.off("drain", settle).off("close", settle);
      resolve();
    };
    response.on("drain", settle).on("close", settle);
  });
}

function isGone(response: NodeResponse): boolean {
  return "stream" in response ? response.stream.destroyed : response.destroyed;
}
