import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as resources from "../operations-clinic/resources-under-test.js";
import { chromiumPath, openChromium, openWindow } from "../support/chromium.js";
import { registration } from "../support/registration.js";
import { startTestService, type TestService } from "../support/service.js";

const reason = chromiumPath === undefined ? " (skipped: needs Debian's package chromium)" : "";

/** A call that a page makes, and the headers that it reads. */
interface PageCall {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

describe.skipIf(chromiumPath === undefined)(`a page of another origin, in Chromium${reason}`, () => {
  let pages: Server;
  let allowed: string;
  let service: TestService;
  let browser: Browser;

  beforeAll(async () => {
    pages = createServer((_, response) => void response.setHeader("content-type", "text/html").end("<p>A page</p>"));
    await once(pages.listen(0, "127.0.0.1"), "listening");
    allowed = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
    service = await startTestService({ CORS_ORIGINS: allowed, PUBLIC_CLINIC_API: "all" });
    browser = await openChromium();
  });

  afterAll(async () => {
    await browser.close();
    await service.close();
    pages.closeAllConnections();
    pages.close();
  });

  test("registers a patient over REST, and reads answer, headers and errors", async () => {
    const url = `${service.baseUrl}/patients`;
    const body = JSON.stringify(registration());
    const headers = { ...(await credentials()), "content-type": "application/json", "idempotency-key": "from-a-page" };
    const made = await callFrom(allowed, { url, method: "POST", headers, body });
    expect([made.status, made.headers]).toMatchObject([201, { "x-correlation-id": expect.any(String) }]);
    expect(Object.keys(made.headers)).toEqual(expect.arrayContaining(["ratelimit", "ratelimit-policy"]));
    const again = await callFrom(allowed, { url, method: "POST", headers, body });
    expect(again.headers["idempotent-replayed"]).toBe("true");
    const refused = await callFrom(allowed, { url, method: "POST", headers: {}, body });
    expect([refused.status, refused.text]).toEqual([401, expect.stringContaining("INVALID_ACCESS_TOKEN")]);
  });

  test("reads the ETag of a resource, and gets 304 with it", async () => {
    const location = await resources.createResource(service, resources.location);
    const url = `${service.publicUrl}/api/clinic/v1/locations/${location.id}`;
    const headers = await credentials();
    const first = await callFrom(allowed, { url, method: "GET", headers });
    const known = { ...headers, "if-none-match": first.headers["etag"] ?? "" };
    expect([first.status, (await callFrom(allowed, { url, method: "GET", headers: known })).status]).toEqual([
      200, 304,
    ]);
  });

  test.each([
    ["Connect by POST", "", "POST", "application/json"],
    ["Connect by GET", "?connect=v1&encoding=json&message=%7B%7D", "GET", undefined],
    ["gRPC-Web", "", "POST", "application/grpc-web+proto"],
  ])("calls an RPC over %s", async (_, query, method, type) => {
    const url = `${service.internalUrl}/cupo.clinic.v1.ReferenceDataService/ListLocations${query}`;
    const own = type === undefined ? {} : { "content-type": type, "connect-protocol-version": "1", "x-grpc-web": "1" };
    const body = type === "application/json" ? "{}" : "\0\0\0\0\0";
    const call = { url, method, headers: { ...(await credentials()), ...own } };
    const answer = await callFrom(allowed, method === "GET" ? call : { ...call, body });
    expect([answer.status, answer.failure]).toEqual([200, undefined]);
  });

  test("cannot read anything if its origin is not in the setting", async () => {
    const other = allowed.replace("127.0.0.1", "localhost");
    const url = `${service.publicUrl}/api/clinic/v1/locations`;
    const answer = await callFrom(other, { url, method: "GET", headers: await credentials() });
    expect(answer.failure).toContain("Failed to fetch");
  });

  async function credentials(): Promise<Record<string, string>> {
    return { authorization: `Bearer ${await service.token()}` };
  }

  async function callFrom(origin: string, call: PageCall) {
    const window = await openWindow(browser);
    try {
      const page = await window.newPage();
      await page.goto(origin);
      return await page.evaluate(async ({ url, ...init }) => {
        try {
          const answer = await fetch(url, init);
          const headers = Object.fromEntries(answer.headers);
          return { status: answer.status, headers, text: await answer.text(), failure: undefined };
        } catch (error) {
          return { status: 0, headers: {} as Record<string, string>, text: "", failure: String(error) };
        }
      }, call);
    } finally {
      await window.close();
    }
  }
});
