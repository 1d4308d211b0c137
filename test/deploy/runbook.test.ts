import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const runbook = readFileSync(new URL("../../docs/operate/runbook.md", import.meta.url), "utf8");
const rules = readFileSync(new URL("../../deploy/prometheus/alerts.yml", import.meta.url), "utf8");
const entries = runbook.split(/^## /m).slice(1);
const titles = entries.map((entry) => entry.split("\n")[0]);

describe("the runbook", () => {
  test("has one entry per alert, with the alert's name, and no others", () => {
    const alerts = Array.from(rules.matchAll(/^ +- alert: (\w+)$/gm), ([, name]) => name);
    expect(titles).toEqual(alerts);
    expect(alerts.length).toBeGreaterThan(10);
  });

  test.each(entries)("has the parts Means, Look, Do and Not: %s", (entry) => {
    const parts = Array.from(entry.matchAll(/^\*\*(\w+)\.\*\* \S+/gm), ([, name]) => name);
    expect(parts).toEqual(["Means", "Look", "Do", "Not"]);
  });
});
