import { beforeAll, describe, expect, test } from "vitest";
import { readBusyPages } from "./busy-pages.js";
import { labelsIn, metricsIn, read, readAlertRules, readDashboardExpressions } from "./expressions.js";
import type { Sample } from "./metrics-page.js";

const ALERTS = [
  "CupoDown",
  "CupoNotReady",
  "CupoErrorRate",
  "CupoSlowRequests",
  "CupoDatabasePoolExhausted",
  "CupoEventLoopDelay",
  "CupoJobsBehind",
  "CupoMaterializationBehind",
  "CupoQuotaRefusals",
  "CupoOpenSlotsCeiling",
  "CupoEventFeedBehind",
  "CupoWebhookDisabled",
  "CupoKeySetStale",
  "CupoIdempotencyConflicts",
];
/** Labels that Prometheus adds to scraped metrics. */
const OF_PROMETHEUS = new Set(["job", "instance", "le"]);

let samples: readonly Sample[];

beforeAll(async () => {
  samples = (await readBusyPages()).flatMap((page) => page.samples);
});

describe("the alerts", () => {
  const rules = readAlertRules();

  test("have an entry each in the runbook, and a link to it", () => {
    expect(rules.map(({ alert }) => alert)).toEqual(ALERTS);
    for (const { alert, labels, annotations } of rules) {
      expect(labels["severity"]).toMatch(/^(critical|warning|info)$/);
      expect(annotations["runbook_url"]).toBe(`docs/operate/runbook.md#${alert.toLowerCase()}`);
      expect(read("docs/operate/runbook.md")).toContain(`\n## ${alert}\n`);
      expect(`${annotations["summary"]}`.length).toBeGreaterThan(10);
      expect(`${annotations["description"]}`.length).toBeGreaterThan(40);
    }
  });

  test.each(rules)("$alert uses existing metrics and labels", ({ expr }) => expectKnown(expr));
});

describe("the dashboard", () => {
  test.each(readDashboardExpressions())("$place uses existing metrics and labels", ({ expr }) => expectKnown(expr));

  test("shows every metric", () => {
    const shown = new Set(
      readDashboardExpressions()
        .flatMap(({ expr }) => metricsIn(expr))
        .map(baseOf),
    );
    const known = new Set(samples.map(({ name }) => baseOf(name)));
    const elsewhere = [
      "target_info",
      "nodejs_eventloop_delay_mean_seconds",
      "nodejs_eventloop_delay_p90_seconds",
      "v8js_memory_heap_limit_bytes",
    ];
    expect([...known].filter((name) => !shown.has(name)).toSorted()).toEqual(elsewhere.toSorted());
  });
});

describe("docs/reference/telemetry.md", () => {
  const [, table = ""] = read("docs/reference/telemetry.md").split("| --- | --- | --- |\n");
  const rows = (table.split("\n\n")[0] ?? "").split("\n").map((line) => {
    const [, name = "", labels = ""] = line.split("|");
    return {
      name: name.replaceAll(/[` ]/g, ""),
      labels: Array.from(labels.matchAll(/`(\w+)`/g), ([, label]) => String(label)),
    };
  });

  test("lists exactly the existing metrics", () => {
    const known = new Set(samples.map(({ name }) => baseOf(name)));
    expect(rows.map(({ name }) => name).toSorted()).toEqual([...known].toSorted());
  });

  test.each(rows)("lists the labels of $name", ({ name, labels }) => {
    if (name === "target_info") return expect(labels).toContain("service_version");
    const found = samples
      .filter((sample) => baseOf(sample.name) === name)
      .flatMap((sample) => Object.keys(sample.labels));
    const known = [...new Set(found)].filter((label) => label !== "le");
    return expect(labels.toSorted()).toEqual(known.toSorted());
  });
});

test("an unknown metric or label is detected", () => {
  expect(metricsIn('sum by (a) (rate(x_total{b="c"}[5m])) / on (d) y > 0.5 or z')).toEqual(["x_total", "y", "z"]);
  expect(labelsIn('sum by (a, d) (rate(x_total{b="c",e!~"f"}[5m]))')).toEqual(["b", "e", "a", "d"]);
  expect(() => expectKnown("sum(rate(cupo_nothing_total[5m]))")).toThrow("cupo_nothing_total");
  expect(() => expectKnown('cupo_ready{nothing="1"}')).toThrow("nothing");
});

/** Requires that all metrics and labels in an expression exist on the pages. */
function expectKnown(expr: string): void {
  const names = new Set(samples.map(({ name }) => name));
  const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)));
  expect(metricsIn(expr).filter((name) => !names.has(name))).toEqual([]);
  expect(labelsIn(expr).filter((label) => !labels.has(label) && !OF_PROMETHEUS.has(label))).toEqual([]);
}

/** Returns the name of the histogram that a metric belongs to. */
function baseOf(name: string): string {
  const isHistogram = samples.some((sample) => sample.name === `${name.replace(/_(bucket|sum|count)$/, "")}_bucket`);
  return isHistogram ? name.replace(/_(bucket|sum|count)$/, "") : name;
}
