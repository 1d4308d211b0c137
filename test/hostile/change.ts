import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { type RawRequest, withHeader } from "../support/raw-request.js";

/** Makes a good registration a bad request, or an odd one that is good all the same. */
export type Change = (good: RawRequest) => RawRequest;

/** Before every path. */
export const BASE = "/api/external/v1";

/** Stands in whatever the requests send; no answer to a bad one and no log line may repeat it. */
export const MARKER = "hostile-marker";

/** Another body, made from the text of the good one. */
export function body(change: (json: string) => string): Change {
  return (good) => ({ ...good, body: change(String(good.body)) });
}

/** Another body, as the bytes of a latin1 text. */
export function bytes(change: (json: string) => string): Change {
  return (good) => ({ ...good, body: Buffer.from(change(String(good.body)), "latin1") });
}

/** One more member at the end of the body. */
export function member(name: string, json: string): Change {
  return body((all) => all.replace(/}$/, `,${JSON.stringify(name)}:${json}}`));
}

/** Another value for a text of the body, as JSON. */
export function field(name: string, json: string): Change {
  return body((all) => all.replace(new RegExp(`"${name}":"[^"]*"`), () => `"${name}":${json}`));
}

/** Another time of consent. */
export function consent(text: string): Change {
  return field("consentGrantedAt", JSON.stringify(text));
}

/** An update at this path. */
export function patch(path: string): Change {
  const update = { fullName: MARKER, phone: "12345", expectedVersion: 1 };
  return (good) => ({ ...good, method: "PATCH", target: path, body: JSON.stringify(update) });
}

/** An update of a patient that does not exist, which is found out after the body was judged. */
export function version(json: string): Change {
  const update = patch(`${BASE}/patients/${randomUUID()}`);
  return (good) => body((all) => all.replace(":1}", `:${json}}`))(update(good));
}

/** This header in place of the one of its name; none for undefined. */
export function header(name: string, value: string | undefined): Change {
  return (good) => withHeader(good, name, value);
}

/** Another value for a header of the good request. */
export function changed(name: string, change: (value: string) => string): Change {
  return (good) => ({ ...good, headers: good.headers.map(([n, v]) => [n, n === name ? change(v) : v]) });
}

/** One more header. */
export function added(name: string, value: string): Change {
  return (good) => ({ ...good, headers: [...good.headers, [name, value]] });
}

/** A header once more as it is. */
export function twice(name: string): Change {
  return (good) => ({ ...good, headers: [...good.headers, ...good.headers.filter(([other]) => other === name)] });
}

/** Another request target. */
export function target(path: string): Change {
  return (good) => ({ ...good, target: path });
}

/** Another method. */
export function method(name: string): Change {
  return (good) => ({ ...good, method: name });
}

/** The body in one chunk. */
export function chunked(change: (json: string) => string): Change {
  return (good) => {
    const text = change(String(good.body));
    const frame = `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n0\r\n\r\n`;
    return { ...withHeader(good, "Transfer-Encoding", "chunked"), body: frame };
  };
}

/** The body compressed, and declared to be. */
export function gzip(change: (json: string) => string): Change {
  return (good) => ({ ...withHeader(good, "Content-Encoding", "gzip"), body: gzipSync(change(String(good.body))) });
}
