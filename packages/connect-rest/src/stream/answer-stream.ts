import type { Message } from "@bufbuild/protobuf";
import type { InvocationInit, InvokedStream } from "../invoke.js";
import type { Render } from "../render.js";
import type { RestRequest, RestResponse } from "../rest-message.js";
import { abortableMessages } from "./abortable-messages.js";
import type { CompiledEventIds } from "./event-ids.js";
import { type ChunkWriter, openStreamBody } from "./stream-body.js";
import { type StreamFormat, type StreamFormatName, streamFormat } from "./stream-format.js";

/** A server-streaming method, compiled for its route. */
export interface StreamMethod {
  readonly render: Render;
  invoke(init: InvocationInit): InvokedStream;
  /** The format of every stream. If undefined, the Accept headers of each request choose the format. */
  readonly format: StreamFormatName | undefined;
  readonly eventIds: CompiledEventIds | undefined;
}

/** The body of an answer and its media type. */
export interface StreamContent {
  readonly contentType: string;
  readonly body: AsyncIterable<Uint8Array>;
}

const encoder = new TextEncoder();

/**
 * Calls a method with a stream of responses and returns the content of the answer. Rejects if the stream fails before
 * its first message. If the stream fails later, the last frame of the body contains the error as `renderError` renders
 * it. In two cases there is no such frame, and the iteration of the body rejects instead:
 * - The caller has disconnected.
 * - The messages are google.api.HttpBody, which have no frames.
 *
 * The implementation gets a signal that aborts when `init.signal` aborts, when the iteration of the body ends early, or
 * when the stream fails.
 */
export async function answerStream(
  { render, invoke, format: name, eventIds }: StreamMethod,
  http: RestRequest,
  init: InvocationInit,
  renderError: (error: unknown) => RestResponse,
): Promise<StreamContent> {
  const leave = new AbortController();
  const signal = AbortSignal.any([init.signal, leave.signal]);
  const messages = abortableMessages(invoke({ ...init, signal }).messages, signal);
  const stop = () => {
    leave.abort();
    messages.abandon();
  };
  if (render.isRaw) return rawContent(render, messages, stop);
  const format = streamFormat(name, http.rawHeaders);
  const body = await openStreamBody(messages, frameWriter(render, { format, eventIds }, http, renderError), stop);
  return { contentType: format.contentType, body };
}

/**
 * Returns the content of a stream of google.api.HttpBody. The media type of the content is that of the first message,
 * because later messages omit their media type.
 */
async function rawContent(
  { render }: Render,
  messages: AsyncIterator<Message>,
  stop: () => void,
): Promise<StreamContent> {
  let contentType: string | undefined;
  const write: ChunkWriter = {
    message: (message) => {
      const rendered = render(message);
      contentType ??= rendered.contentType;
      return bytesOf(rendered.body);
    },
    error: (error) => {
      throw error;
    },
    end: undefined,
  };
  const body = await openStreamBody(messages, write, stop);
  return { contentType: contentType ?? "application/octet-stream", body };
}

interface Framing extends Pick<StreamMethod, "eventIds"> {
  readonly format: StreamFormat;
}

function frameWriter(
  { render }: Render,
  { format, eventIds }: Framing,
  http: RestRequest,
  renderError: (error: unknown) => RestResponse,
): ChunkWriter {
  let opening = format.opening(eventIds?.retryMs);
  return {
    message: (message) => {
      const frame = opening + format.message(String(render(message).body), eventIds?.idOf(message));
      opening = "";
      return encoder.encode(frame);
    },
    error: (error) => {
      if (http.isGone()) throw error;
      return encoder.encode(format.error(jsonOf(renderError(error).body)));
    },
    end: format.end === "" ? undefined : encoder.encode(format.end),
  };
}

/**
 * Returns the body of an error as JSON without line breaks. A text that is not JSON becomes a string. A body that is
 * neither text nor bytes becomes {}.
 */
function jsonOf(body: RestResponse["body"]): string {
  if (typeof body !== "string" && !(body instanceof Uint8Array)) return "{}";
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return JSON.stringify(text);
  }
}

function bytesOf(body: string | Uint8Array): Uint8Array {
  return typeof body === "string" ? encoder.encode(body) : body;
}
