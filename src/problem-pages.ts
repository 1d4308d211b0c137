import { type ErrorCode, errorTable } from "./errors.js";
import type { HttpRequest, HttpResponse } from "./request-log.js";

/** What each problem type means, and what its receiver can do about it. */
export const explanations: Readonly<Record<ErrorCode, readonly [meaning: string, remedy: string]>> = {
  INVALID_REQUEST: [
    "The request cannot be read: a header, the path, the query or the body is not what HTTP, JSON or this interface require.",
    "Look at detail and errors, correct the request, and send it again. Nothing was changed.",
  ],
  INVALID_ACCESS_TOKEN: [
    "The access token is missing, malformed, expired, meant for another audience, or signed by a key that is not trusted.",
    "Get a new token from the issuer. The WWW-Authenticate header says what was wrong.",
  ],
  INSUFFICIENT_SCOPE: [
    "The access token is valid, but the client was not granted the scope that the operation requires.",
    "The WWW-Authenticate header names the scope. Ask the operator of the issuer to grant it.",
  ],
  RESOURCE_NOT_FOUND: [
    "There is no such path, or no such resource that this client may see.",
    "Check the path and its ids, and that the token belongs to the right tenant.",
  ],
  METHOD_NOT_ALLOWED: [
    "The path exists, but not with this HTTP method.",
    "The Allow header lists the methods of the path.",
  ],
  REQUEST_TIMEOUT: ["The request did not arrive completely in time.", "Send it again with the same Idempotency-Key."],
  CONCURRENT_MODIFICATION: [
    "The request conflicts with the state of the resource, with another resource, or with an earlier use of its Idempotency-Key.",
    "The one item of errors says which conflict it is. After STALE_VERSION, read the resource again and decide anew.",
  ],
  OPTION_EXPIRED: [
    "The option token has expired, was used before, or stands for a slot that is no longer offered.",
    "Search for options again and use a new token.",
  ],
  VALIDATION_FAILED: [
    "The body is JSON, but it breaks rules of the contract.",
    "Every broken rule is an item of errors: field is the path to the member, code the kind of rule.",
  ],
  RATE_LIMIT_EXCEEDED: [
    "The client has made more requests than its quota allows, or more at once than are worked on at the same time.",
    "Wait for as many seconds as Retry-After says. RateLimit-Policy and RateLimit tell the quotas and what is left.",
  ],
  HEADERS_TOO_LARGE: [
    "The headers of the request are larger than the service reads.",
    "Send fewer or shorter headers.",
  ],
  INTERNAL_ERROR: [
    "Something went wrong inside the service.",
    "Send the request again with the same Idempotency-Key. If it goes on, report the correlationId.",
  ],
  SERVICE_UNAVAILABLE: [
    "The service cannot reach its database at the moment, or another change holds what this one needs; detail says which.",
    "Send the request again with the same Idempotency-Key after as many seconds as Retry-After says.",
  ],
};

const HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "max-age=3600",
};

const pages = new Map(
  Object.entries(errorTable).map(([code, { slug }]) => [`/problems/${slug}`, renderPage(code as ErrorCode)]),
);

/** The methods of the pages. */
export const PROBLEM_PAGE_METHODS: readonly string[] = ["GET", "HEAD"];

/** Whether a request, by whatever method, has the path of such a page. */
export function isForProblemPage(request: HttpRequest): boolean {
  return pages.has(request.url ?? "");
}

/**
 * Answers a request for the page of a problem type, `/problems/<slug>`, to which the `type` of a Problem leads (RFC 9457,
 * section 3.1.1). False where the request is for something else, or by another method.
 */
export function serveProblemPage(request: HttpRequest, response: HttpResponse): boolean {
  const page = PROBLEM_PAGE_METHODS.includes(request.method ?? "") ? pages.get(request.url ?? "") : undefined;
  if (page === undefined) return false;
  response.writeHead(200, { ...HEADERS, "Content-Length": String(Buffer.byteLength(page)) });
  response.end(request.method === "HEAD" ? "" : page);
  return true;
}

function renderPage(code: ErrorCode): string {
  const { status, title, slug } = errorTable[code];
  const [meaning, remedy] = explanations[code];
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} (${slug})</title>
<style>
  body { font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem; color-scheme: light dark }
  dt { font-weight: 600 } dd { margin: 0 0 1rem }
</style>
<h1>${title}</h1>
<dl>
  <dt>HTTP status</dt><dd>${status}</dd>
  <dt>Code</dt><dd><code>${code}</code></dd>
  <dt>What it means</dt><dd>${meaning}</dd>
  <dt>What to do</dt><dd>${remedy}</dd>
</dl>
</html>
`;
}
