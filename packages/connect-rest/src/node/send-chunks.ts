import { constants } from "node:http2";
import { endChunks } from "../adapters/response-body.js";
import type { NodeResponse } from "./node-response.js";

/**
 * Sends the head of an answer before the first chunk is available, then the chunks. Waits while the buffer of the
 * response is full. If the caller disconnects, ends the iteration and resolves.
 *
 * Rejects if the iteration throws. The answer is then cut: the HTTP/1.1 connection is closed without the last chunk,
 * and the HTTP/2 stream is reset with INTERNAL_ERROR. So the caller can see that the answer is not complete.
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
    cut(response);
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

function cut(response: NodeResponse): void {
  if ("stream" in response) response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  else response.destroy();
}
