import { beforeEach, describe, expect, test } from "vitest";
import {
  BEHIND_PATIENCE_MS,
  createReplicaPause,
  LEFT_ALONE_MS,
  type ReplicaPause,
} from "../../src/postgres/replica/replica-pause.js";

let now: number;
let pause: ReplicaPause;

beforeEach(() => {
  now = 0;
  pause = createReplicaPause(() => now);
});

test("a replica that serves gets each read", () => {
  pause.note("served");
  expect(pause.isOn()).toBe(false);
});

test("a replica that is behind for a moment gets the next read at once", () => {
  pause.note("behind");
  now = BEHIND_PATIENCE_MS - 1;
  pause.note("behind");
  expect(pause.isOn()).toBe(false);
});

test("a replica that is behind at every read for a second gets no reads for a while", () => {
  pause.note("behind");
  now = BEHIND_PATIENCE_MS;
  pause.note("behind");
  expect(pause.isOn()).toBe(true);
});

test("a read that it serves in between restarts that second", () => {
  pause.note("behind");
  pause.note("served");
  now = BEHIND_PATIENCE_MS;
  pause.note("behind");
  expect(pause.isOn()).toBe(false);
});

describe.each(["away", "promoted"] as const)("a replica that is %s", (outcome) => {
  beforeEach(() => pause.note(outcome));

  test("gets no reads, then one as a trial", () => {
    now = LEFT_ALONE_MS - 1;
    expect(pause.isOn()).toBe(true);
    now = LEFT_ALONE_MS;
    expect([pause.isOn(), pause.isOn()]).toEqual([false, true]);
  });

  test("gets all reads again once a read was served", () => {
    now = LEFT_ALONE_MS;
    pause.isOn();
    pause.note("served");
    expect([pause.isOn(), pause.isOn()]).toEqual([false, false]);
  });
});

test("a read that no replica can execute says nothing about the replica", () => {
  pause.note("unable");
  expect(pause.isOn()).toBe(false);
  pause.note("away");
  pause.note("unable");
  expect(pause.isOn()).toBe(true);
});
