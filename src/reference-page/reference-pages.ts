import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { CupoError } from "../errors.js";
import type { HttpRequest, HttpResponse } from "../request-log.js";
import { isFromOwnPage } from "./own-page.js";
import { type PageFile, pageFile } from "./page-file.js";
import { pageHtml } from "./page-html.js";

/** What the reference page of a listener shows, and what it needs. */
export interface ReferencePagesOptions {
  readonly title: string;
  /** The path of the OpenAPI document, as JSON, on the same listener. */
  readonly documentPath: string;
  /** Gives the page a token by one click; only where the development issuer is in use, else undefined. */
  readonly issueToken: TokenIssue | undefined;
  /** Answers with an error. */
  refuse(request: HttpRequest, response: HttpResponse, error: CupoError): void;
}

/** Signs an access token of the development issuer that expires so many seconds later. */
export type TokenIssue = (expiresInSeconds: number) => Promise<string>;

/** Answers a request for the page or one of its files; false where it is for something else. */
export type ReferencePages = (request: HttpRequest, response: HttpResponse) => boolean;

interface Resource {
  readonly methods: readonly string[];
  answer(request: HttpRequest, response: HttpResponse): Promise<void>;
}

const TOKEN_PATH = "/docs/token";
const TOKEN_LIFETIME_SECONDS = 900;

/**
 * Nothing but the listener's own files and addresses, no script or style within a page, and no page around this one.
 * Images in the package's style are data.
 */
const HEADERS = {
  "Content-Security-Policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
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
 * The reference of a listener at `/docs`: its OpenAPI document in a browser, where operations can be tried out against the
 * listener itself. Everything that it loads is below `/docs` of the same listener, and read when it is first asked for.
 */
export function createReferencePages(options: ReferencePagesOptions): ReferencePages {
  const { issueToken, refuse } = options;
  const tokenPath = issueToken === undefined ? undefined : TOKEN_PATH;
  const page = pageFile("text/html; charset=utf-8", async () => pageHtml({ ...options, tokenPath }));
  const files = [["/docs", page] as const, ["/docs/", page] as const, ...ownFiles(), ...packageFiles()];
  const resources = new Map<string, Resource>(files.map(([path, file]) => [path, fileResource(file)]));
  if (issueToken !== undefined) resources.set(TOKEN_PATH, tokenResource(issueToken));
  return (request, response) => {
    const resource = resources.get(request.url?.replace(/\?.*/s, "") ?? "");
    if (resource === undefined) return false;
    answerBy(resource, request, response).catch((error: unknown) => {
      const thrown = error instanceof CupoError ? error : new CupoError("INTERNAL_ERROR", { cause: error });
      refuse(request, response, thrown);
    });
    return true;
  };
}

async function answerBy(resource: Resource, request: HttpRequest, response: HttpResponse): Promise<void> {
  const { methods } = resource;
  if (!methods.includes(request.method ?? ""))
    throw new CupoError("METHOD_NOT_ALLOWED", { headers: { Allow: methods.join(", ") } });
  await resource.answer(request, response);
}

function fileResource(file: PageFile): Resource {
  return { methods: ["GET", "HEAD"], answer: (request, response) => file(request, response, HEADERS) };
}

/** Answers in the form of RFC 6749, section 5.1; 404, as where there is none, to whoever is not a page of this listener. */
function tokenResource(issueToken: TokenIssue): Resource {
  return {
    methods: ["POST"],
    async answer(request, response) {
      if (!isFromOwnPage(request)) throw new CupoError("RESOURCE_NOT_FOUND");
      const accessToken = await issueToken(TOKEN_LIFETIME_SECONDS);
      response.writeHead(200, { ...HEADERS, "Cache-Control": "no-store", "Content-Type": "application/json" });
      response.end(
        JSON.stringify({ access_token: accessToken, token_type: "Bearer", expires_in: TOKEN_LIFETIME_SECONDS }),
      );
    },
  };
}

/** What is written here. */
function ownFiles(): [string, PageFile][] {
  const types = {
    "page.js": "text/javascript",
    "access-token.js": "text/javascript",
    "fresh-headers.js": "text/javascript",
    "page.css": "text/css",
    "icon.svg": "image/svg+xml",
  };
  return Object.entries(types).map(([name, type]) => [
    `/docs/${name}`,
    pageFile(`${type}; charset=utf-8`, () => readFile(new URL(`browser/${name}`, import.meta.url))),
  ]);
}

/** What swagger-ui-dist brings, from where the package is installed. */
function packageFiles(): [string, PageFile][] {
  const { resolve } = createRequire(import.meta.url);
  const read = (name: string) => () => readFile(resolve(`swagger-ui-dist/${name}`));
  return [
    ["/docs/swagger-ui.js", pageFile("text/javascript; charset=utf-8", read("swagger-ui-bundle.js"))],
    ["/docs/swagger-ui.css", pageFile("text/css; charset=utf-8", read("swagger-ui.css"))],
  ];
}
