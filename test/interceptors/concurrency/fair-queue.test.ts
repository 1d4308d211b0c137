import { expect, test } from "vitest";
import { FairQueue } from "../../../src/interceptors/concurrency/fair-queue.js";

test("the tag of a tenant's next call is one more than its previous tag", () => {
  const queue = new FairQueue();
  expect([queue.assign("a"), queue.assign("a"), queue.assign("a"), queue.assign("b")]).toEqual([-1, 0, 1, -1]);
});

test("the tag of an idle tenant's call is one less than the virtual time", () => {
  const queue = new FairQueue();
  queue.assign("idle");
  queue.advance(7);
  expect([queue.startTagOf("idle"), queue.startTagOf("new")]).toEqual([6, 6]);
  queue.advance(5);
  expect(queue.startTagOf("new")).toBe(6);
});

test("the virtual time changes no tag that is not below it", () => {
  const queue = new FairQueue();
  queue.assign("at the virtual time");
  for (let calls = 0; calls < 4; calls += 1) queue.assign("busy");
  queue.advance(0);
  expect([queue.startTagOf("busy"), queue.startTagOf("at the virtual time")]).toEqual([3, 0]);
});

test("the last tag of a tenant can be taken back, but no earlier one", () => {
  const queue = new FairQueue();
  const tags = [queue.assign("a"), queue.assign("a")];
  queue.revoke("a", tags[0] ?? 0);
  expect(queue.startTagOf("a")).toBe(1);
  queue.revoke("a", tags[1] ?? 0);
  expect(queue.startTagOf("a")).toBe(0);
});
