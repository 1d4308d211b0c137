import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withLock } from "../../src/embedded-postgres/lock.js";
import { identifyProcess, isRunning } from "../../src/embedded-postgres/processes.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** The id of a running process with a wrong start time. */
const deadProcess = `${process.pid}.1`;
let folder: string;
let path: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  path = join(folder, "lock");
});

afterEach(() => rm(folder, { recursive: true, force: true }));

test("admits one at a time, even if the lock of a dead process must be removed", async () => {
  const paths = Array.from({ length: 50 }, (_, index) => join(folder, `${index}`));
  await Promise.all(paths.map((each) => writeFile(each, deadProcess)));
  const most = await Promise.all(paths.map(contend));
  expect(most).toEqual(paths.map(() => 1));
  expect(await readdir(folder)).toEqual([]);
});

test("leaves the lock of a dead process to another that is removing it", async () => {
  await writeFile(path, deadProcess);
  await writeFile(`${path}.breaking`, `${identifyProcess(process.pid)}`);
  const entered = withLock(path, () => readdir(folder));
  for (let look = 0; look < 50; look += 1) expect(await readFile(path, "utf8")).toBe(deadProcess);
  await rm(`${path}.breaking`);
  expect(await entered).toEqual(["lock"]);
});

test("is released if the action fails", async () => {
  await expect(withLock(path, () => Promise.reject(new Error("no luck")))).rejects.toThrow("no luck");
  expect(await withLock(path, () => Promise.resolve("in"))).toBe("in");
});

test("waits while its holder runs", async () => {
  const order: string[] = [];
  let second: Promise<unknown> | undefined;
  await withLock(path, async () => {
    second = withLock(path, async () => order.push("second"));
    for (let look = 0; look < 20; look += 1) order.push(await readFile(path, "utf8"));
  });
  await second;
  expect(order.indexOf("second")).toBe(20);
});

test("distinguishes a process from a later one with the same id", () => {
  expect(isRunning(`${identifyProcess(process.pid)}`)).toBe(true);
  expect(isRunning(deadProcess)).toBe(false);
  expect(isRunning("")).toBe(false);
  expect(identifyProcess(0)).toBeUndefined();
});

/** Returns the highest number of concurrent holders of a lock. */
async function contend(lock: string): Promise<number> {
  let inside = 0;
  let most = 0;
  const enter = () =>
    withLock(lock, async () => {
      inside += 1;
      most = Math.max(most, inside);
      for (let turn = 0; turn < 10; turn += 1) await setImmediate();
      inside -= 1;
    });
  await Promise.all(Array.from({ length: 4 }, enter));
  return most;
}
