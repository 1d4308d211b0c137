import { expect, test } from "vitest";
import { mergePages } from "../../src/command-line/workers/merge-pages.js";

const PAGE = `# HELP calls_total Calls.
# TYPE calls_total counter
calls_total 1
calls_total{status="200"} 2
# HELP seconds Durations.
# UNIT seconds seconds
# TYPE seconds histogram
seconds_bucket{le="0.1"} 1
seconds_bucket{le="+Inf"} 3
seconds_sum 0.5
seconds_count 3
# TYPE waiting gauge
waiting 4
waiting{pool="calls"} 5
`;

test("the page of one worker keeps its lines, and its gauges name the worker", () => {
  const merged = mergePages([{ worker: 1, page: PAGE }]);
  expect(merged).toBe(
    PAGE.replace("# UNIT seconds seconds\n", "")
      .replace("waiting 4", 'waiting{worker="1"} 4')
      .replace('{pool="calls"} 5', '{pool="calls",worker="1"} 5'),
  );
});

test("counters and histograms are summed, and each worker has its own gauges", () => {
  const other =
    '# TYPE calls_total counter\ncalls_total{status="404"} 7\ncalls_total 1\n# TYPE waiting gauge\nwaiting 6\n';
  const merged = mergePages([
    { worker: 1, page: PAGE },
    { worker: 2, page: PAGE },
    { worker: 3, page: other },
  ]);
  expect(linesOf(merged, "calls_total")).toEqual([
    "calls_total 3",
    'calls_total{status="200"} 4',
    'calls_total{status="404"} 7',
  ]);
  expect(linesOf(merged, "seconds_")).toEqual([
    'seconds_bucket{le="0.1"} 2',
    'seconds_bucket{le="+Inf"} 6',
    "seconds_sum 1",
    "seconds_count 6",
  ]);
  expect(linesOf(merged, "waiting{w")).toEqual([
    'waiting{worker="1"} 4',
    'waiting{worker="2"} 4',
    'waiting{worker="3"} 6',
  ]);
});

test("of a worker that has ended only counters and histograms count", () => {
  const merged = mergePages([
    { worker: 1, page: PAGE },
    { worker: undefined, page: mergePages([{ worker: undefined, page: PAGE }]) },
  ]);
  expect(linesOf(merged, "calls_total")).toEqual(["calls_total 2", 'calls_total{status="200"} 4']);
  expect(linesOf(merged, "waiting")).toEqual(['waiting{worker="1"} 4', 'waiting{pool="calls",worker="1"} 5']);
});

test("no page gives an empty page", () => {
  expect(mergePages([])).toBe("");
  expect(mergePages([{ worker: 1, page: "" }])).toBe("");
});

function linesOf(page: string, start: string): string[] {
  return page.split("\n").filter((line) => line.startsWith(start));
}
