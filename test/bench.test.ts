import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { allCreated, registrations, runLoad } from "../bench/load.js";
import { median, percentile, ratioOfRounds, speedOf } from "../bench/machine.js";
import { boundOf, GOALS } from "../bench/report.js";
import { PARTS } from "../bench/run.js";
import { addressesIn } from "../bench/service.js";
import { announceStart } from "../src/command-line/announce-start.js";
import { removeFolder, temporaryFolder } from "./support/temporary-folder.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const readme = readFileSync(`${root}/bench/README.md`, "utf8");
const MOST_FILES = 25;

test("the programs compile, and import the compiled service", async () => {
  const folder = await temporaryFolder();
  onTestFinished(() => removeFolder(folder));
  const { status, stderr } = spawnSync(process.execPath, ["scripts/build-bench.mjs", folder], {
    cwd: root,
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const compiled = readdirSync(folder);
  const programs = readdirSync(`${root}/bench`).filter((name) => name.endsWith(".ts"));
  expect(compiled).toEqual(expect.arrayContaining(programs.map((name) => name.replace(/ts$/, "js"))));
  const text = compiled.map((name) => readFileSync(`${folder}/${name}`, "utf8")).join("\n");
  const imports = Array.from(text.matchAll(/from "file:[^"]*\/dist\/([^"]+)\.js"/g), ([, path]) => `${path}.ts`);
  expect(imports).not.toEqual([]);
  expect(imports.filter((path) => !existsSync(`${root}/src/${path}`))).toEqual([]);
});

test("the README tells of each part", () => {
  const [, table = ""] = /^\| part \|.*?\n\|.*?\n(.*?)\n\n/ms.exec(readme) ?? [];
  const told = Array.from(table.matchAll(/^\| `(\w+)` \|/gm), ([, name]) => name);
  expect(told).toEqual(Object.keys(PARTS));
});

test("the README states each goal with its bound", () => {
  const stated = Array.from(readme.matchAll(/^\| ([^|]+) \| ([≥≤<] [\d.]+) \|/gm), ([, text, bound]) => [text, bound]);
  expect(stated).toEqual(Object.values(GOALS).map((goal) => [goal.text, boundOf(goal)]));
});

test("the folder stays small, and each file is typed", () => {
  const files = readdirSync(`${root}/bench`, { recursive: true, encoding: "utf8" });
  expect(files.length).toBeLessThanOrEqual(MOST_FILES);
  expect(files.filter((name) => !name.endsWith(".ts")).toSorted()).toEqual(["README.md", "results.json"]);
});

test("results.json has results of each goal's part", () => {
  const results: Record<string, { machine: string }> = JSON.parse(readFileSync(`${root}/bench/results.json`, "utf8"));
  expect(Object.keys(results)).toEqual(expect.arrayContaining(["creation", "operations", "search", "growth"]));
  for (const { machine } of Object.values(results)) expect(machine).toMatch(/^\d{4}-\d\d-\d\d, /);
});

test("statistics: medians, percentiles, rates and ratios of rounds", () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2);
  const times = Array.from({ length: 100 }, (_, i) => 100 - i);
  expect(percentile(times, 0.99)).toBe(100);
  expect(speedOf(times, 4)).toEqual({ rate: 25, p50Ms: 51, p99Ms: 100 });
  expect(ratioOfRounds([10, 20, 90], [10, 10, 30])).toBe(2);
  expect(() => median([])).toThrow("nothing was measured");
});

test("the load client counts answers by status, and a broken connection as status 0", async () => {
  const received: string[] = [];
  const server = createServer((request, response) => {
    received.push(String(request.headers["idempotency-key"]));
    if (received.length === 2) request.socket.destroy();
    else response.writeHead(received.length === 3 ? 503 : 201, { "content-length": 2 }).end("{}");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const register = registrations(`http://127.0.0.1:${(server.address() as AddressInfo).port}/patients`, ["token"]);
  let left = 5;
  const result = await runLoad({ callers: 1, next: () => (left-- > 0 ? register : undefined) });
  expect(result).toMatchObject({ completed: 5, statuses: { 201: 3, 503: 1, 0: 1 } });
  expect(new Set(received).size).toBe(5);
  expect(() => allCreated(result)).toThrow('{"0":1,"201":3,"503":1}');
});

test("the addresses of a service are found in the log of its start", async () => {
  const publicUrl = "http://127.0.0.1:8080";
  const internalUrl = "http://127.0.0.1:9090";
  const lines: string[] = [];
  const write = (line: string) => lines.push(line) > 0;
  const logger = pino({ base: null }, { write });
  logger.info("migrating to 0001-foundation");
  expect(addressesIn(lines.join(""))).toBeUndefined();
  await announceStart(
    { issuer: undefined, logFormat: "auto" },
    { publicUrl, internalUrl, basePath: "/api/external/v1", pageKey: undefined },
    { logger, output: { isTTY: false, write }, firstRequest: async () => "" },
  );
  expect(addressesIn(lines.join(""))).toEqual({ baseUrl: `${publicUrl}/api/external/v1`, internalUrl });
});
