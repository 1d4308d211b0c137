import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { before } from "./before.js";
import { documentedLines, linesOf } from "./diary.js";
import { friday } from "./friday.js";
import { monday } from "./monday.js";
import { saturday } from "./saturday.js";
import type { Page, WriteTask } from "./tasks.js";
import { thursday } from "./thursday.js";
import { tuesday } from "./tuesday.js";
import { wednesday } from "./wednesday.js";
import { openWeek, type Week } from "./week.js";

/** The most calls of a task. Tasks before the week are configuration and may need more. */
const MOST_CALLS = 3;

let week: Week;

beforeAll(async () => {
  week = await openWeek();
});

afterAll(() => week.close());

describe("Before", () => before(taskOn("Before")));
describe("Monday", () => monday(taskOn("Monday")));
describe("Tuesday", () => tuesday(taskOn("Tuesday")));
describe("Wednesday", () => wednesday(taskOn("Wednesday")));
describe("Thursday", () => thursday(taskOn("Thursday")));
describe("Friday", () => friday(taskOn("Friday")));
describe("Saturday", () => saturday(taskOn("Saturday")));

describe("the diary", () => {
  test("is the list of docs/guide/booking.md, with the same tasks and calls", () => {
    expect(documentedLines()).toEqual(linesOf(week.diary.entries));
  });

  test("has no task of more than three calls except configuration", () => {
    const tasks = week.diary.entries.filter(({ day }) => day !== "Before");
    expect(tasks.length).toBeGreaterThanOrEqual(25);
    expect(tasks.filter(({ rpcs }) => rpcs.length > MOST_CALLS)).toEqual([]);
  });
});

function taskOn(page: Page): WriteTask {
  return (task, work) => test(task, () => week.diary.write(page, task, () => work(week)));
}
