import { createHash } from "node:crypto";
import { pipeline, Readable } from "node:stream";
import { promisify } from "node:util";
import { createGunzip, gzip } from "node:zlib";
import { hasAlready } from "../entity-tags.js";
import type { HttpRequest, HttpResponse } from "../request-log.js";

/**
 * Answers a request for a file, GET or HEAD, with these headers besides those of the file. Rejects, before anything is sent,
 * where the file cannot be read.
 */
export type PageFile = (
  request: HttpRequest,
  response: HttpResponse,
  headers: Readonly<Record<string, string>>,
) => Promise<void>;

interface Kept {
  readonly etag: string;
  readonly length: number;
  readonly gzipped: Buffer;
}

/**
 * A file for browsers. It is read when it is first asked for and kept compressed, as nearly all of them take it. Clients may
 * keep it as long as they ask whether it is still the same (`ETag`, RFC 9110 section 8.8.3).
 */
export function pageFile(contentType: string, read: () => Promise<string | Buffer>): PageFile {
  let reading: Promise<Kept> | undefined;
  const open = () => {
    reading ??= keep(read).catch((error: unknown) => {
      reading = undefined;
      throw error;
    });
    return reading;
  };
  return async (request, response, headers) =>
    sendFile(await open(), request, response, { ...headers, "Content-Type": contentType });
}

function sendFile(
  { etag, length, gzipped }: Kept,
  request: HttpRequest,
  response: HttpResponse,
  headers: Readonly<Record<string, string>>,
): void {
  const isGzipped = takesGzip(request);
  const tag = isGzipped ? etag.replace(/"$/, '-gzip"') : etag;
  const common = { ...headers, ETag: tag, "Cache-Control": "no-cache", Vary: "Accept-Encoding" };
  for (const [name, value] of Object.entries(common)) response.setHeader(name, value);
  if (hasAlready(request, tag)) {
    response.statusCode = 304;
    response.removeHeader("Content-Type");
    response.end();
    return;
  }
  response.setHeader("Content-Length", isGzipped ? gzipped.length : length);
  if (isGzipped) response.setHeader("Content-Encoding", "gzip");
  if (request.method === "HEAD") response.end();
  else if (isGzipped) response.end(gzipped);
  else pipeline(Readable.from([gzipped]), createGunzip(), response, () => undefined);
}

async function keep(read: () => Promise<string | Buffer>): Promise<Kept> {
  const content = Buffer.from(await read());
  const etag = `"${createHash("sha256").update(content).digest("base64url")}"`;
  return { etag, length: content.length, gzipped: await promisify(gzip)(content) };
}

/** Whether a client takes gzip (RFC 9110, section 12.5.3). One that weighs it against others gets the file as it is. */
function takesGzip(request: HttpRequest): boolean {
  const codings = (request.headers["accept-encoding"] ?? "").split(",");
  return codings.some((coding) => coding.trim() === "gzip");
}
