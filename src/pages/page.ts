import type { OutgoingHttpHeaders } from "node:http";
import type { HttpRequest, HttpResponse } from "../request-log.js";
import { type Coding, contentOf, type PageContent } from "./content.js";
import { hasAlready } from "./entity-tags.js";
import type { Resource } from "./serve-resources.js";

/** A page, or a file that a page loads. */
export interface Page {
  readonly contentType: string;
  /** Headers in addition to the headers of every page. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Returns the current content. Called for each request. */
  content(): Promise<PageContent>;
}

const COMMON_HEADERS = { "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff" };

/**
 * Creates a resource that answers GET and HEAD with a page, compressed when the client accepts it. Clients may cache
 * the page and revalidate it by `ETag` (RFC 9110 section 8.8.3).
 */
export function pageResource({ contentType, headers, content }: Page): Resource {
  return {
    methods: ["GET", "HEAD"],
    async answer(request, response) {
      const current = await content();
      const coding = codingFor(request);
      const etag = coding === undefined ? current.etag : current.etag.replace(/"$/, `-${coding}"`);
      const common = { ...COMMON_HEADERS, ...headers, Vary: varyOf(response), ETag: etag };
      if (hasAlready(request, etag)) return send(response, 304, common);
      const body = coding === undefined ? current.plain : await current.coded(coding);
      const coded = coding === undefined ? {} : { "Content-Encoding": coding };
      const own = { "Content-Type": contentType, "Content-Length": body.length, ...coded };
      send(response, 200, { ...common, ...own }, request.method === "HEAD" ? undefined : body);
    },
  };
}

/**
 * Returns a function that reads content at its first call and caches it. After a failure, the next call reads again.
 */
export function readOnce(read: () => Promise<string | Buffer>): () => Promise<PageContent> {
  let reading: Promise<PageContent> | undefined;
  return () => {
    reading ??= read()
      .then(contentOf)
      .catch((error: unknown) => {
        reading = undefined;
        throw error;
      });
    return reading;
  };
}

/** Returns the Vary header of the answer, with Accept-Encoding added. */
function varyOf(response: HttpResponse): string {
  const known = response.getHeader("vary");
  return known === undefined ? "Accept-Encoding" : `${String(known)}, Accept-Encoding`;
}

function send(response: HttpResponse, status: number, headers: OutgoingHttpHeaders, body?: Buffer): void {
  response.writeHead(status, headers);
  response.end(body ?? "");
}

/**
 * Returns `br` if the client accepts it, else `gzip` if the client accepts it, else undefined (RFC 9110, section
 * 12.5.3). Ignores codings with a weight, such as `gzip;q=0.5`, the wildcard `*`, and names that are not in lower case.
 */
function codingFor({ headers }: HttpRequest): Coding | undefined {
  const taken = new Set((headers["accept-encoding"] ?? "").split(",").map((coding) => coding.trim()));
  return (["br", "gzip"] as const).find((coding) => taken.has(coding));
}
