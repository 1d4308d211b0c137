import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:http2";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { decodeJwt, exportJWK, generateKeyPair } from "jose";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { expectProblem } from "../support/problem.js";
import { answerOf, parseObject, type RestAnswer } from "../support/rest-request.js";
import { startTestService, type TestService } from "../support/service.js";
import { removeFolder, temporaryFolder } from "../support/temporary-folder.js";

const listeners = ["public", "internal"] as const;
type ListenerName = (typeof listeners)[number];

const KEY = "key-of-this-start";

let service: TestService;

beforeAll(async () => {
  const sign = (expiresInSeconds: number) => service.token({ expiresInSeconds });
  service = await startTestService({}, { demoTokens: { key: KEY, sign } });
});

afterAll(() => service.close());

describe.each(listeners)("the reference page of the %s listener", (name) => {
  const url = (path: string) => `${urlOf(name)}${path}`;
  const get = async (path: string, init: RequestInit = {}) => answerOf(await fetch(url(path), init));

  test("is at /docs, with or without a slash or a query", async () => {
    for (const path of ["/docs", "/docs/", "/docs?from=readme"]) {
      const { status, headers, text } = await get(path);
      expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      expect(text).toContain(`href="${name === "public" ? "/api/external/v1" : ""}/openapi.json"`);
    }
    expect((await get("/docs/other")).status).toBe(404);
  });

  test("is the target of a redirect from / for GET and HEAD only; an unknown path stays 404", async () => {
    for (const [method, path] of [
      ["GET", "/"],
      ["HEAD", "/"],
      ["GET", "/?from=readme"],
    ] as const) {
      const { status, headers } = await get(path, { method, redirect: "manual" });
      expect([status, headers.get("location")]).toEqual([302, "docs"]);
    }
    expect((await fetch(url("/"))).url).toBe(url("/docs"));
    const answer = await get("/", { method: "POST" });
    expectProblem(answer, 405);
    expect(answer.headers.get("allow")).toBe("GET, HEAD");
    expect((await get("/other")).status).toBe(404);
  });

  test("has no inline script or style, and refers only to files of the listener", async () => {
    const { text } = await get("/docs");
    expect(text).not.toMatch(
      /<style|<[^>]+\s(?:style|on\w+)=|<script>|javascript:|(?:src|action)="https?:|<link[^>]+https?:/,
    );
    const named = await namedFiles();
    expect(named.length).toBeGreaterThan(5);
    for (const path of named) expect([path, (await get(path)).status]).toEqual([path, 200]);
  });

  test("and each of its files allow only content of the listener, and cannot be embedded by other pages", async () => {
    for (const path of ["/docs", ...(await namedFiles())]) {
      const { headers } = await get(path);
      const policy = headers.get("content-security-policy") ?? "";
      expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain("unsafe");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
      expect(headers.get("access-control-allow-origin")).toBeNull();
    }
  });

  test("and each of its files have an ETag, with which browsers can revalidate them", async () => {
    for (const path of ["/docs", ...(await namedFiles())]) {
      const first = await get(path);
      const etag = first.headers.get("etag") ?? "";
      expect(first.headers.get("cache-control")).toBe("no-cache");
      const again = await get(path, { headers: { "if-none-match": etag } });
      expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", etag]);
      const other = await get(path, { headers: { "if-none-match": '"other"' } });
      expect([other.status, other.text]).toEqual([200, first.text]);
    }
  });

  test("and its files are compressed with gzip or brotli if the client accepts that, with the same content", async () => {
    const plain = await sent("/docs", "identity");
    const zipped = await sent("/docs", "deflate, gzip");
    const brotli = await sent("/docs", "gzip, deflate, br");
    const all = [plain, zipped, brotli];
    expect(all.map(({ headers }) => headers["content-encoding"])).toEqual([undefined, "gzip", "br"]);
    for (const { body } of [zipped, brotli]) expect(body.length).toBeLessThan(plain.body.length / 5);
    expect(gunzipSync(zipped.body).equals(plain.body)).toBe(true);
    expect(brotliDecompressSync(brotli.body).equals(plain.body)).toBe(true);
    for (const { headers, body } of all) expect(headers["content-length"]).toBe(String(body.length));
    expect(new Set(all.map(({ headers }) => headers.etag)).size).toBe(3);
    for (const { headers } of all) expect(headers.vary).toBe("Accept-Encoding");
  });

  test("accepts only GET and HEAD", async () => {
    const [whole, head] = [await sent("/docs", "identity"), await sent("/docs", "identity", "HEAD")];
    expect([head.body.length, head.headers["content-length"]]).toEqual([0, whole.headers["content-length"]]);
    const answer = await get("/docs", { method: "POST" });
    expectProblem(answer, 405);
    expect(answer.headers.get("allow")).toBe("GET, HEAD");
  });

  /** Returns the files that the page refers to and that its scripts import. */
  async function namedFiles(): Promise<string[]> {
    const { text } = await get("/docs");
    const named = Array.from(text.matchAll(/<(?:script src|link [^>]*href)="([^"]+)"/g), ([, path]) => String(path));
    const script = await get("/docs/page.js");
    const imported = Array.from(script.text.matchAll(/from "\.(\/[^"]+)"/g), ([, path]) => `/docs${path}`);
    return [...new Set([...named, ...imported])];
  }

  function sent(path: string, acceptEncoding: string, method = "GET") {
    return send(url(path), method, { "accept-encoding": acceptEncoding });
  }
});

describe.each(listeners)("the token of the %s listener's page", (name) => {
  const ask = async (headers: Readonly<Record<string, string>>, method = "POST"): Promise<RestAnswer> => {
    const answer = await send(`${urlOf(name)}/docs/token`, method, headers);
    const text = answer.body.toString();
    return {
      status: answer.status,
      headers: new Headers(Object.entries(answer.headers).map(flat)),
      text,
      body: parseObject(text),
    };
  };
  const own = () => ({ origin: urlOf(name), "sec-fetch-site": "same-origin", "page-key": KEY });

  test("is one of the development issuer with every scope, for fifteen minutes, and is not stored", async () => {
    const { status, headers, body } = await ask(own());
    expect([status, headers.get("cache-control"), body["token_type"], body["expires_in"]]).toEqual([
      200,
      "no-store",
      "Bearer",
      900,
    ]);
    const { iat = 0, exp = 0, scope } = decodeJwt(String(body["access_token"]));
    expect(exp - iat).toBe(900);
    expect(String(scope).split(" ").toSorted()).toEqual([...service.scopes].toSorted());
  });

  test("is returned to a browser that sends no Sec-Fetch headers", async () => {
    expect((await ask({ origin: urlOf(name), "page-key": KEY })).status).toBe(200);
    const byName = urlOf(name).replace("127.0.0.1", "localhost");
    expect((await ask({ origin: byName, host: new URL(byName).host, "page-key": KEY })).status).toBe(200);
  });

  test("is returned over HTTP/2 too", async () => {
    const session = connect(urlOf(name));
    onTestFinished(() => session.close());
    const stream = session.request({ ":method": "POST", ":path": "/docs/token", ...own() });
    stream.end();
    const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
    expect(headers[":status"]).toBe(200);
    expect(parseObject(String(await buffer(stream)))).toMatchObject({ token_type: "Bearer" });
  });

  test.each<[string, () => Record<string, string>]>([
    ["a client that is not a browser", () => ({ "page-key": KEY })],
    ["a page without the key, as behind a proxy that adds no header", () => without("page-key", own())],
    ["a page with the key of another start", () => ({ ...own(), "page-key": "key-of-that-start" })],
    ["a page with an empty key", () => ({ ...own(), "page-key": "" })],
    ["a page with the key and more", () => ({ ...own(), "page-key": `${KEY}, ${KEY}` })],
    ["a page of another origin", () => ({ ...own(), origin: "https://elsewhere.example" })],
    ["a page of another port of this machine", () => ({ ...own(), origin: "http://127.0.0.1:1" })],
    ["a page without an origin", () => ({ ...own(), origin: "null" })],
    ["a request from another site", () => ({ ...own(), "sec-fetch-site": "cross-site" })],
    ["a request from another origin of this site", () => ({ ...own(), "sec-fetch-site": "same-site" })],
    [
      "a page whose host name was rebound to this address",
      () => ({ ...own(), origin: "http://elsewhere.example", host: "elsewhere.example" }),
    ],
    ["a request that a proxy forwards", () => ({ ...own(), "x-forwarded-for": "203.0.113.9" })],
    ["a request that a proxy forwards by RFC 7239", () => ({ ...own(), forwarded: "for=203.0.113.9" })],
  ])("is refused to %s", async (_, headers) => {
    const answer = await ask(headers());
    expectProblem(answer, 404);
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  });

  test("is returned for POST only", async () => {
    const answer = await ask(own(), "GET");
    expectProblem(answer, 405);
    expect(answer.headers.get("allow")).toBe("POST");
  });
});

test("with an external issuer, the page asks for a token and the listener returns none", async () => {
  const folder = await temporaryFolder();
  onTestFinished(() => removeFolder(folder));
  const { publicKey } = await generateKeyPair("ES256", { extractable: true });
  const key = { ...(await exportJWK(publicKey)), kid: "one", alg: "ES256", use: "sig" };
  await writeFile(join(folder, "keys.json"), JSON.stringify({ keys: [key] }));
  const issued: number[] = [];
  const real = await startTestService(
    {
      AUTH_ISSUER: "https://issuer.example",
      AUTH_AUDIENCE: "cupo",
      AUTH_JWKS_FILE: join(folder, "keys.json"),
      PUBLIC_URL: "https://cupo.example",
    },
    { demoTokens: { key: KEY, sign: async (seconds) => String(issued.push(seconds)) } },
  );
  onTestFinished(() => real.close());
  for (const url of [real.publicUrl, real.internalUrl]) {
    const page = await (await fetch(`${url}/docs`)).text();
    expect(page).toContain('id="access-token"');
    expect(page).not.toContain("/docs/token");
    const asked = await send(`${url}/docs/token`, "POST", {
      origin: url,
      "sec-fetch-site": "same-origin",
      "page-key": KEY,
    });
    expect(asked.status).toBe(404);
  }
  expect(issued).toEqual([]);
});

function urlOf(name: ListenerName): string {
  return name === "public" ? service.publicUrl : service.internalUrl;
}

/** Sends any header and returns the raw body, which fetch cannot do. */
async function send(url: string, method: string, headers: Readonly<Record<string, string>>) {
  const request = httpRequest(url, { method, headers });
  request.end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, body: await buffer(response) };
}

function without(name: string, headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([other]) => other !== name));
}

function flat([name, value]: [string, string | string[] | undefined]): [string, string] {
  return [name, String(value)];
}
