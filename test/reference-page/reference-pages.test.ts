import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:http2";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { decodeJwt, exportJWK, generateKeyPair } from "jose";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { expectProblem } from "../support/problem.js";
import { answerOf, parseObject, type RestAnswer } from "../support/rest-request.js";
import { startTestService, type TestService } from "../support/service.js";
import { removeFolder, temporaryFolder } from "../support/temporary-folder.js";

const listeners = ["public", "internal"] as const;
type ListenerName = (typeof listeners)[number];

let service: TestService;

beforeAll(async () => {
  service = await startTestService({}, { issueToken: (expiresInSeconds) => service.token({ expiresInSeconds }) });
});

afterAll(() => service.close());

describe.each(listeners)("the reference page of the %s listener", (name) => {
  const url = (path: string) => `${urlOf(name)}${path}`;
  const get = async (path: string, init: RequestInit = {}) => answerOf(await fetch(url(path), init));

  test("is at /docs, with or without a slash or a query", async () => {
    for (const path of ["/docs", "/docs/", "/docs?from=readme"]) {
      const { status, headers, text } = await get(path);
      expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      expect(text).toContain(`data-document-path="${name === "public" ? "/api/external/v1" : ""}/openapi.json"`);
    }
    expect((await get("/docs/other")).status).toBe(404);
  });

  test("has no script and no style within it, and all that it names is the listener's own", async () => {
    const { text } = await get("/docs");
    expect(text).not.toMatch(/<style|style=|<script>|\son\w+=|javascript:|https?:/);
    const named = await namedFiles();
    expect(named.length).toBeGreaterThan(5);
    for (const path of named) expect([path, (await get(path)).status]).toEqual([path, 200]);
  });

  test("and each of its files forbids what is not the listener's own, and is not for pages of others", async () => {
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

  test("and each of its files has a tag, by which browsers ask whether it is still the same", async () => {
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

  test("and its files are sent with gzip to whoever takes it, as they are to others, and are the same", async () => {
    const [zipped, plain] = [await sent("/docs/swagger-ui.js", "gzip, br"), await sent("/docs/swagger-ui.js", "br")];
    expect([zipped.headers["content-encoding"], plain.headers["content-encoding"]]).toEqual(["gzip", undefined]);
    expect(zipped.body.length).toBeLessThan(plain.body.length / 2);
    expect(gunzipSync(zipped.body).equals(plain.body)).toBe(true);
    for (const { headers, body } of [zipped, plain]) expect(headers["content-length"]).toBe(String(body.length));
    expect(zipped.headers.etag).not.toBe(plain.headers.etag);
    expect([zipped.headers.vary, plain.headers.vary]).toEqual(["Accept-Encoding", "Accept-Encoding"]);
  });

  test("is for GET and HEAD only", async () => {
    const [whole, head] = [await sent("/docs", "identity"), await sent("/docs", "identity", "HEAD")];
    expect([head.body.length, head.headers["content-length"]]).toEqual([0, whole.headers["content-length"]]);
    const answer = await get("/docs", { method: "POST" });
    expectProblem(answer, 405);
    expect(answer.headers.get("allow")).toBe("GET, HEAD");
  });

  /** What the page names, and what its scripts import. */
  async function namedFiles(): Promise<string[]> {
    const { text } = await get("/docs");
    const named = Array.from(text.matchAll(/(?:src|href|data-document-path)="([^"]+)"/g), ([, path]) => String(path));
    const script = await get("/docs/page.js");
    const imported = Array.from(script.text.matchAll(/from "\.(\/[^"]+)"/g), ([, path]) => `/docs${path}`);
    return [...new Set([...named, ...imported])].filter((path) => !path.endsWith("openapi.json"));
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
  const own = () => ({ origin: urlOf(name), "sec-fetch-site": "same-origin" });

  test("is one of the development issuer with every scope, for fifteen minutes, and is kept by nobody", async () => {
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

  test("is given to a browser that says nothing of the kind of request", async () => {
    expect((await ask({ origin: urlOf(name) })).status).toBe(200);
    const byName = urlOf(name).replace("127.0.0.1", "localhost");
    expect((await ask({ origin: byName, host: new URL(byName).host })).status).toBe(200);
  });

  test("is given over HTTP/2 too", async () => {
    const session = connect(urlOf(name));
    onTestFinished(() => session.close());
    const stream = session.request({ ":method": "POST", ":path": "/docs/token", ...own() });
    stream.end();
    const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
    expect(headers[":status"]).toBe(200);
    expect(parseObject(String(await buffer(stream)))).toMatchObject({ token_type: "Bearer" });
  });

  test.each<[string, () => Record<string, string>]>([
    ["who is no browser", () => ({})],
    ["a page of another origin", () => ({ ...own(), origin: "https://elsewhere.example" })],
    ["a page of another port of this machine", () => ({ ...own(), origin: "http://127.0.0.1:1" })],
    ["a page without an origin", () => ({ ...own(), origin: "null" })],
    ["a request from another site", () => ({ ...own(), "sec-fetch-site": "cross-site" })],
    ["a request from another origin of this site", () => ({ ...own(), "sec-fetch-site": "same-site" })],
    [
      "a page whose name was bent to this address",
      () => ({ ...own(), origin: "http://elsewhere.example", host: "elsewhere.example" }),
    ],
    ["what a proxy hands on", () => ({ ...own(), "x-forwarded-for": "203.0.113.9" })],
    ["what a proxy hands on, in the standard's way", () => ({ ...own(), forwarded: "for=203.0.113.9" })],
  ])("is not for %s", async (_, headers) => {
    const answer = await ask(headers());
    expectProblem(answer, 404);
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  });

  test("is for POST only", async () => {
    const answer = await ask(own(), "GET");
    expectProblem(answer, 405);
    expect(answer.headers.get("allow")).toBe("POST");
  });
});

test("with an issuer of its own the page asks for a token, and there is none to be had", async () => {
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
    { issueToken: async (seconds) => String(issued.push(seconds)) },
  );
  onTestFinished(() => real.close());
  for (const url of [real.publicUrl, real.internalUrl]) {
    const page = await (await fetch(`${url}/docs`)).text();
    expect(page).toContain('id="access-token"');
    expect(page).not.toContain("/docs/token");
    const asked = await send(`${url}/docs/token`, "POST", { origin: url, "sec-fetch-site": "same-origin" });
    expect(asked.status).toBe(404);
  }
  expect(issued).toEqual([]);
});

function urlOf(name: ListenerName): string {
  return name === "public" ? service.publicUrl : service.internalUrl;
}

/** As fetch cannot: with any header, and with the body as it comes. */
async function send(url: string, method: string, headers: Readonly<Record<string, string>>) {
  const request = httpRequest(url, { method, headers });
  request.end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, body: await buffer(response) };
}

function flat([name, value]: [string, string | string[] | undefined]): [string, string] {
  return [name, String(value)];
}
