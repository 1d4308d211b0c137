import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { type PageFile, pageFile } from "../../src/reference-page/page-file.js";

test("a file is read when it is first asked for, and once", async () => {
  let reads = 0;
  const file = pageFile("text/css", async () => `/* ${++reads} */`);
  expect(reads).toBe(0);
  const url = await serve(file);
  const answers = await Promise.all([fetch(url), fetch(url)]);
  expect(await Promise.all(answers.map((answer) => answer.text()))).toEqual(["/* 1 */", "/* 1 */"]);
  expect(await (await fetch(url)).text()).toBe("/* 1 */");
});

test("a file that could not be read is read again when it is asked for again", async () => {
  let reads = 0;
  const file = pageFile("text/css", async () => {
    reads += 1;
    if (reads === 1) throw new Error("too many open files");
    return "found";
  });
  const url = await serve(file);
  expect((await fetch(url)).status).toBe(500);
  const again = await fetch(url);
  expect([again.status, await again.text()]).toEqual([200, "found"]);
});

async function serve(file: PageFile): Promise<string> {
  const server = createServer((request, response) => {
    file(request, response, {}).catch(() => response.writeHead(500).end());
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
