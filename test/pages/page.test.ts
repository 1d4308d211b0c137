import { createServer } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import type { AddressInfo } from "node:net";
import zlib from "node:zlib";
import { expect, onTestFinished, test, vi } from "vitest";
import { pageResource, readOnce } from "../../src/pages/page.js";
import { serveResources } from "../../src/pages/serve-resources.js";

test("a page is read once, at the first request", async () => {
  let reads = 0;
  const url = await serve(async () => `/* ${++reads} */`);
  expect(reads).toBe(0);
  const answers = await Promise.all([fetch(url), fetch(url)]);
  expect(await Promise.all(answers.map((answer) => answer.text()))).toEqual(["/* 1 */", "/* 1 */"]);
  expect(await (await fetch(url)).text()).toBe("/* 1 */");
});

test("a page that could not be read is read again at the next request", async () => {
  let reads = 0;
  const url = await serve(async () => {
    reads += 1;
    if (reads === 1) throw new Error("too many open files");
    return "found";
  });
  expect((await fetch(url)).status).toBe(500);
  const again = await fetch(url);
  expect([again.status, await again.text()]).toEqual([200, "found"]);
});

test.each(["br", "gzip"] as const)("a failed %s compression of a page is repeated", async (coding) => {
  const url = await serve(async () => "found");
  const headers = { "accept-encoding": coding };
  const failed = failOnce(coding === "br" ? "brotliCompress" : "gzip");
  expect((await fetch(url, { headers })).status).toBe(500);
  expect(failed).toHaveBeenCalledTimes(1);
  const again = await fetch(url, { headers });
  expect([again.status, again.headers.get("content-encoding"), await again.text()]).toEqual([200, coding, "found"]);
  await (await fetch(url, { headers })).text();
  expect(failed).toHaveBeenCalledTimes(2);
});

test.each([
  ["gzip, deflate, br", "br"],
  ["gzip", "gzip"],
  ["br;q=0, gzip;q=0", null],
  ["identity", null],
])("a client that accepts %s gets the coding %s", async (taken, coding) => {
  const url = await serve(async () => "text");
  const { headers } = await fetch(url, { method: "HEAD", headers: { "accept-encoding": taken } });
  expect(headers.get("content-encoding")).toBe(coding);
});

/** Makes the next call of a function of `node:zlib` fail. Restores the function after the test. */
function failOnce(name: "brotliCompress" | "gzip") {
  const spy = vi.spyOn(zlib, name).mockImplementationOnce((_: unknown, ...rest: unknown[]) => {
    (rest.at(-1) as zlib.CompressCallback)(new Error("out of memory"), Buffer.alloc(0));
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  return spy;
}

async function serve(read: () => Promise<string>): Promise<string> {
  const page = pageResource({ contentType: "text/css", content: readOnce(read) });
  const answer = serveResources([["/page.css", page]], (_, response) => response.writeHead(500).end());
  const server = createServer((request, response) => void answer(request, response));
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/page.css`;
}
