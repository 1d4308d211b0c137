import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const runbook = readFileSync(new URL("../../docs/runbook.md", import.meta.url), "utf8");
const operations = readFileSync(new URL("../../docs/operations.md", import.meta.url), "utf8");
const rules = readFileSync(new URL("../../deploy/prometheus/alerts.yml", import.meta.url), "utf8");
const entries = runbook.split(/^## /m).slice(1);
const titles = entries.map((entry) => entry.split("\n")[0]);

describe("the runbook", () => {
  test("has an entry for each alert, under its name, and no other", () => {
    const alerts = Array.from(rules.matchAll(/^ +- alert: (\w+)$/gm), ([, name]) => name);
    expect(titles).toEqual(alerts);
    expect(alerts.length).toBeGreaterThan(10);
  });

  test.each(entries)("says what it means, what to look at, what to do and what not: %s", (entry) => {
    const parts = Array.from(entry.matchAll(/^\*\*(\w+)\.\*\* \S+/gm), ([, name]) => name);
    expect(parts).toEqual(["Means", "Look", "Do", "Not"]);
  });

  test("and the page of operations lead only to what is there", () => {
    for (const text of [runbook, operations]) {
      const links = Array.from(text.matchAll(/\]\(([^)#]*)(?:#([^)]*))?\)/g), ([, path = "", anchor]) => ({
        path,
        anchor,
      }));
      expect(links.length).toBeGreaterThan(5);
      for (const { path, anchor } of links) {
        const url = new URL(path === "" ? "runbook.md" : path, new URL("../../docs/", import.meta.url));
        expect({ path, is: existsSync(url) }).toEqual({ path, is: true });
        if (anchor !== undefined) expect(anchorsOf(readFileSync(url, "utf8"))).toContain(anchor);
      }
    }
  });
});

/** As GitHub makes them of headings. */
function anchorsOf(text: string): string[] {
  return Array.from(text.matchAll(/^#+ (.*)$/gm), ([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w -]/g, "")
      .replaceAll(" ", "-"),
  );
}
