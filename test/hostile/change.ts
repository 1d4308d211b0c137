import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { type RawRequest, withHeader } from "../support/raw-request.js";

/** Changes a valid registration into an invalid request, or into an unusual one that is valid. */
export type Change = (good: RawRequest) => RawRequest;

/** Prefix of every path. */
export const BASE = "/api/external/v1";

/** Contained in everything that the requests send. No rejection and no log line may contain it. */
export const MARKER = "hostile-marker";

/** Replaces the body by one that is made from its text. */
export function body(change: (json: string) => string): Change {
  return (good) => ({ ...good, body: change(String(good.body)) });
}

/** Replaces the body by bytes, given as latin1 text. */
export function bytes(change: (json: string) => string): Change {
  return (good) => ({ ...good, body: Buffer.from(change(String(good.body)), "latin1") });
}

/** Adds a member at the end of the body. */
export function member(name: string, json: string): Change {
  return body((all) => all.replace(/}$/, `,${JSON.stringify(name)}:${json}}`));
}

/** Replaces the value of a string member of the body by this JSON. */
export function field(name: string, json: string): Change {
  return body((all) => all.replace(new RegExp(`"${name}":"[^"]*"`), () => `"${name}":${json}`));
}

/** Replaces the time of consent. */
export function consent(text: string): Change {
  return field("consentGrantedAt", JSON.stringify(text));
}

/** Replaces the request by an update at this path. */
export function patch(path: string): Change {
  const update = { fullName: MARKER, phone: "12345", expectedVersion: 1 };
  return (good) => ({ ...good, method: "PATCH", target: path, body: JSON.stringify(update) });
}

/**
 * Replaces the request by an update with this version of an unknown patient. The body is checked before the patient is
 * found missing.
 */
export function version(json: string): Change {
  const update = patch(`${BASE}/patients/${randomUUID()}`);
  return (good) => body((all) => all.replace(":1}", `:${json}}`))(update(good));
}

/** Replaces a header; undefined removes it. */
export function header(name: string, value: string | undefined): Change {
  return (good) => withHeader(good, name, value);
}

/** Changes the value of a header. */
export function changed(name: string, change: (value: string) => string): Change {
  return (good) => ({ ...good, headers: good.headers.map(([n, v]) => [n, n === name ? change(v) : v]) });
}

/** Adds a header, even if one of that name exists. */
export function added(name: string, value: string): Change {
  return (good) => ({ ...good, headers: [...good.headers, [name, value]] });
}

/** Repeats a header. */
export function twice(name: string): Change {
  return (good) => ({ ...good, headers: [...good.headers, ...good.headers.filter(([other]) => other === name)] });
}

/** Replaces the request target. */
export function target(path: string): Change {
  return (good) => ({ ...good, target: path });
}

/** Replaces the method. */
export function method(name: string): Change {
  return (good) => ({ ...good, method: name });
}

/** Sends the body as one chunk. */
export function chunked(change: (json: string) => string): Change {
  return (good) => {
    const text = change(String(good.body));
    const frame = `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n0\r\n\r\n`;
    return { ...withHeader(good, "Transfer-Encoding", "chunked"), body: frame };
  };
}

/** Sends the body compressed, with its Content-Encoding. */
export function gzip(change: (json: string) => string): Change {
  return (good) => ({ ...withHeader(good, "Content-Encoding", "gzip"), body: gzipSync(change(String(good.body))) });
}
