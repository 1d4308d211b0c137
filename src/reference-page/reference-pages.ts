import { createHash, timingSafeEqual } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { JsonObject } from "@bufbuild/protobuf";
import { CupoError } from "../errors.js";
import { contentPerSource } from "../pages/content-per-source.js";
import { pageResource, readOnce } from "../pages/page.js";
import type { Resource, Resources } from "../pages/serve-resources.js";
import type { HttpRequest } from "../request-log.js";
import { isFromOwnPage } from "./own-page.js";

/** Options of a listener's reference page. */
export interface ReferencePagesOptions {
  /** Returns the OpenAPI document. Returns the same object until the document changes. */
  readonly document: () => Promise<JsonObject>;
  /**
   * Rules that every caller must know, as CommonMark. The page omits them if the document's description contains them.
   */
  readonly introduction: string;
  /** The path of the JSON OpenAPI document on the same listener. */
  readonly documentPath: string;
  /**
   * Signs demo tokens for the page. Undefined if an issuer is configured, or if the process does not show
   * {@link DemoTokens.key} on a terminal.
   */
  readonly demoTokens: DemoTokens | undefined;
}

/** Signs access tokens of the development issuer, for the person who started the process. */
export interface DemoTokens {
  /** A secret of this process. The page sends it with each request for a token. */
  readonly key: string;
  /** Signs an access token that expires after this many seconds. */
  sign(expiresInSeconds: number): Promise<string>;
}

const TOKEN_PATH = "/docs/token";
const KEY_HEADER = "page-key";
const TOKEN_LIFETIME_SECONDS = 900;

/**
 * Headers of the page and its files. With them, the page can load files only from this listener and send requests only
 * to it. Browsers block inline scripts and styles, and other pages cannot frame this page.
 */
const HEADERS = {
  "Content-Security-Policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

/**
 * Returns the resources of a listener's reference page:
 * - `/docs` and `/docs/`: the page. It shows the OpenAPI document and sends operations to the listener itself. It is
 *   created at the first request, and again when the document changes.
 * - Below `/docs`: the files that the page loads, each read at its first request.
 * - `/`: a redirect to `/docs`.
 * - `/docs/token`: demo tokens, if `demoTokens` is defined.
 */
export function referencePages(options: ReferencePagesOptions): Resources {
  const { demoTokens, document } = options;
  const tokenPath = demoTokens === undefined ? undefined : TOKEN_PATH;
  const content = contentPerSource(document, async (current) => {
    const { pageHtml } = await import("./page-html.js");
    return pageHtml(current, { ...options, tokenPath });
  });
  const page = pageResource({ contentType: "text/html; charset=utf-8", headers: HEADERS, content });
  return [
    ["/", redirectResource("docs")],
    ["/docs", page],
    ["/docs/", page],
    ...ownFiles(),
    ...(demoTokens === undefined ? [] : [[TOKEN_PATH, tokenResource(demoTokens)] as const]),
  ];
}

function fileResource(contentType: string, read: () => Promise<string | Buffer>): Resource {
  return pageResource({ contentType, headers: HEADERS, content: readOnce(read) });
}

/**
 * Creates a resource that redirects to `location`, a URL relative to the URL of the request. A proxy may have changed
 * the scheme and the host, so an absolute URL could be wrong.
 */
function redirectResource(location: string): Resource {
  return {
    methods: ["GET", "HEAD"],
    async answer(_, response) {
      response.writeHead(302, { ...HEADERS, Location: location, "Content-Length": 0 });
      response.end();
    },
  };
}

/**
 * Creates a resource that returns a demo token in the form of RFC 6749, section 5.1. If a request lacks `key` or does
 * not come from a page of this listener, `answer` throws the same 404 as for a missing resource.
 */
function tokenResource({ key, sign }: DemoTokens): Resource {
  return {
    methods: ["POST"],
    async answer(request, response) {
      if (!isFromOwnPage(request) || !hasKey(request, key)) throw new CupoError("RESOURCE_NOT_FOUND");
      const accessToken = await sign(TOKEN_LIFETIME_SECONDS);
      response.writeHead(200, { ...HEADERS, "Cache-Control": "no-store", "Content-Type": "application/json" });
      response.end(
        JSON.stringify({ access_token: accessToken, token_type: "Bearer", expires_in: TOKEN_LIFETIME_SECONDS }),
      );
    },
  };
}

/** Whether a request has the key. Compares hashes, so that the time of the comparison reveals nothing about the key. */
function hasKey({ headers }: HttpRequest, key: string): boolean {
  const sent = headers[KEY_HEADER];
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return typeof sent === "string" && timingSafeEqual(hash(sent), hash(key));
}

/** Returns the files of the folder `browser` with their paths below `/docs`. */
function ownFiles(): [string, Resource][] {
  const types = {
    "page.js": "text/javascript",
    "access-token.js": "text/javascript",
    "elements.js": "text/javascript",
    "idempotency-key.js": "text/javascript",
    "navigation.js": "text/javascript",
    "page-key.js": "text/javascript",
    "preferences.js": "text/javascript",
    "try-it.js": "text/javascript",
    "page.css": "text/css",
    "icon.svg": "image/svg+xml",
  };
  return Object.entries(types).map(([name, type]) => [
    `/docs/${name}`,
    fileResource(`${type}; charset=utf-8`, () => readFile(new URL(`browser/${name}`, import.meta.url))),
  ]);
}
