import { endChunks } from "../adapters/response-body.js";
import { cutResponse } from "./cut-response.js";
import type { NodeResponse } from "./node-response.js";

/**
 * Sends the head of an answer before the first chunk is available, then the chunks. Waits while the buffer of the
 * response is full. If the caller disconnects, ends the iteration and resolves.
 *
 * If the iteration throws, cuts the answer ({@link cutResponse}) and rejects.
 */
export async function sendChunks(response: NodeResponse, body: AsyncIterable<Uint8Array>): Promise<void> {
  const chunks = body[Symbol.asyncIterator]();
  const end = () => endChunks(chunks);
  response.once("close", end);
  if ("stream" in response) response.writeHead(response.statusCode);
  else response.flushHeaders();
  try {
    await pump(chunks, response);
    if (!isClosed(response)) response.end();
  } catch (error) {
    if (isClosed(response)) return;
    cutResponse(response);
    throw error;
  } finally {
    response.off("close", end);
  }
}

async function pump(chunks: AsyncIterator<Uint8Array>, response: NodeResponse): Promise<void> {
  const sink: NodeJS.WritableStream = response;
  for (;;) {
    const next = await chunks.next();
    if (next.done === true || isClosed(response)) return;
    if (!sink.write(next.value) && !isClosed(response)) await drained(response);
  }
}

/** Resolves when the buffer of the response is empty or the response has closed. */
function drained(response: NodeResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      response.off("drain", settle).off("close", settle);
      resolve();
    };
    response.on("drain", settle).on("close", settle);
  });
}

function isClosed(response: NodeResponse): boolean {
  return "stream" in response ? response.stream.destroyed : response.destroyed;
}
