import { createHash } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { hasAlready } from "../entity-tags.js";
import { CupoError } from "../errors.js";
import type { HttpRequest, HttpResponse } from "../request-log.js";

/** Where an OpenAPI document is served, and how it is made. */
export interface DocumentPagesOptions {
  /** What the paths `/openapi.json` and `/openapi.yaml` stand behind; "" for nothing. */
  readonly prefix: string;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Makes the document; called when it is first asked for, and again on another day, because examples have dates. */
  describe(nowMs: number): Promise<JsonObject>;
  /** Answers with an error. */
  refuse(request: HttpRequest, response: HttpResponse, error: CupoError): void;
}

/** Answers a request for a document; false where it is for something else. */
export type DocumentPages = (request: HttpRequest, response: HttpResponse) => boolean;

interface Page {
  readonly contentType: string;
  readonly etag: string;
  readonly body: Buffer;
}

type MakePage = (document: JsonObject) => Promise<Page>;

const DAY_MS = 86_400_000;
const METHODS = ["GET", "HEAD"];

/**
 * Serves an OpenAPI document as JSON and as YAML, to everybody: it says what can be asked and nothing of anybody. Each is made
 * when it is first asked for, so that a start need not wait for it, and kept as bytes. Clients may keep it as long as they
 * ask whether it is still the same (`ETag`, RFC 9110 section 8.8.3).
 */
export function createDocumentPages(options: DocumentPagesOptions): DocumentPages {
  const document = onceADay(options.now, options.describe);
  const pages = new Map<string | undefined, () => Promise<Page>>([
    [`${options.prefix}/openapi.json`, onceADay(options.now, async () => jsonPage(await document()))],
    [`${options.prefix}/openapi.yaml`, onceADay(options.now, async () => yamlPage(await document()))],
  ]);
  const answer = async (page: () => Promise<Page>, request: HttpRequest, response: HttpResponse) => {
    try {
      sendPage(await page(), request, response);
    } catch (error) {
      options.refuse(request, response, new CupoError("INTERNAL_ERROR", { cause: error }));
    }
  };
  return (request, response) => {
    const page = pages.get(request.url);
    if (page === undefined) return false;
    if (METHODS.includes(request.method ?? "")) void answer(page, request, response);
    else options.refuse(request, response, methodNotAllowed());
    return true;
  };
}

/** Gives what was made on the same day (UTC), or makes it. */
function onceADay<T>(now: () => number, make: (nowMs: number) => Promise<T>): () => Promise<T> {
  let made: { readonly day: number; readonly value: Promise<T> } | undefined;
  return () => {
    const nowMs = now();
    const day = Math.floor(nowMs / DAY_MS);
    if (made?.day !== day) made = { day, value: make(nowMs) };
    return made.value;
  };
}

const jsonPage: MakePage = async (document) => {
  const { jsonText } = await import("./document-text.js");
  return pageOf("application/json", jsonText(document));
};

const yamlPage: MakePage = async (document) => {
  const { yamlText } = await import("./document-text.js");
  return pageOf("application/yaml", yamlText(document));
};

function pageOf(contentType: string, text: string): Page {
  const etag = `"${createHash("sha256").update(text).digest("base64url")}"`;
  return { contentType, etag, body: Buffer.from(text) };
}

function sendPage({ contentType, etag, body }: Page, request: HttpRequest, response: HttpResponse): void {
  const headers = { ETag: etag, "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff" };
  if (hasAlready(request, etag)) {
    response.writeHead(304, headers);
    response.end();
    return;
  }
  response.writeHead(200, { ...headers, "Content-Type": contentType, "Content-Length": body.length });
  response.end(request.method === "HEAD" ? "" : body);
}

function methodNotAllowed(): CupoError {
  return new CupoError("METHOD_NOT_ALLOWED", { headers: { Allow: METHODS.join(", ") } });
}
