import { headerValues } from "../raw-headers.js";

/** A format that puts the messages of a stream into one body. */
export interface StreamFormat {
  readonly contentType: string;
  /**
   * Returns the text before the first message. For server-sent events, this text says how many milliseconds a client
   * waits before it reconnects, after the stream ends or the connection is lost. It is empty if `retryMs` is undefined.
   * For NDJSON, the text is always empty.
   */
  opening(retryMs: number | undefined): string;
  /**
   * Returns the frame of a message. `json` is the message, without line breaks. `id` is its event id, if it has one.
   */
  message(json: string, id?: string): string;
  /**
   * Returns the frame of the error that ended the stream. It is the last frame. `json` is the error, without line
   * breaks.
   */
  error(json: string): string;
  /** The last frame of a stream that ended without an error; "" for none. */
  readonly end: string;
}

/** The names of the formats, as options state them: newline-delimited JSON, or server-sent events. */
export type StreamFormatName = "ndjson" | "sse";

/**
 * One JSON object per line: `{"result": message}`. If the stream fails, the last line is `{"error": error}`. The outer
 * member distinguishes this error from a message with a field of the name `error`.
 */
const ndjson: StreamFormat = {
  contentType: "application/x-ndjson",
  opening: () => "",
  message: (json) => `{"result":${json}}\n`,
  error: (json) => `{"error":${json}}\n`,
  end: "",
};

/**
 * Server-sent events (html.spec.whatwg.org). The last event is `error` with the error, or `end`. The client must close
 * its EventSource at the last event, because an open EventSource calls again.
 */
const sse: StreamFormat = {
  contentType: "text/event-stream",
  opening: (retryMs) => (retryMs === undefined ? "" : `retry: ${retryMs}\n`),
  message: (json, id) => `${id === undefined ? "" : `id: ${id}\n`}data: ${json}\n\n`,
  error: (json) => `event: error\ndata: ${json}\n\n`,
  end: "event: end\ndata: {}\n\n",
};

/**
 * Returns the format `name`, if it is defined. Otherwise, the Accept headers of the request decide. They select
 * server-sent events if the quality of text/event-stream is above 0 and not below the quality of application/x-ndjson.
 * Otherwise, they select NDJSON.
 */
export function streamFormat(name: StreamFormatName | undefined, rawHeaders: readonly string[]): StreamFormat {
  if (name !== undefined) return { ndjson, sse }[name];
  const wanted = qualityOf(sse.contentType, rawHeaders);
  return wanted > 0 && wanted >= qualityOf(ndjson.contentType, rawHeaders) ? sse : ndjson;
}

/**
 * Returns the highest quality that Accept headers give to a media type (RFC 9110 section 12.5.1). Ignores wildcards. A
 * quality above 1, which the RFC forbids, is returned unchanged. Returns 0 if no header names the media type.
 */
function qualityOf(mediaType: string, rawHeaders: readonly string[]): number {
  const ranges = headerValues("accept", rawHeaders).flatMap((value) => value.toLowerCase().split(","));
  const qualities = ranges.flatMap((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
    const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    return type === mediaType ? [Number(quality ?? 1)] : [];
  });
  return Math.max(0, ...qualities.filter((quality) => !Number.isNaN(quality)));
}
