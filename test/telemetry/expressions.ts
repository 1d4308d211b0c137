import { readFileSync } from "node:fs";
import { parse } from "yaml";

/** A rule of an alert. */
export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** An expression, and where it stands. */
export interface PlacedExpression {
  readonly place: string;
  readonly expr: string;
}

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
}

/** Words of PromQL that stand where a name could. */
const WORDS = new Set(["by", "without", "on", "ignoring", "and", "or", "unless", "bool", "group_left", "group_right"]);
/** What Prometheus itself knows of everything that it scrapes. */
const OWN = new Set(["up"]);

/** The rules of all alerts. */
export function readAlertRules(): readonly AlertRule[] {
  const { groups } = parse(read("deploy/prometheus/alerts.yml")) as { groups: { rules: AlertRule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

/** The expressions of all panels of the dashboard, and of its variables, for all that can be chosen. */
export function readDashboardExpressions(): readonly PlacedExpression[] {
  const { panels, templating } = JSON.parse(read("deploy/grafana/cupo-dashboard.json")) as Dashboard;
  const ofPanels = panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ place: title, expr: chosen(expr) })),
  );
  const ofVariables = templating.list.flatMap(({ name, definition }) => {
    const [, selector] = /^label_values\((.*), \w+\)$/.exec(definition ?? "") ?? [];
    return selector === undefined ? [] : [{ place: name, expr: chosen(selector) }];
  });
  return [...ofPanels, ...ofVariables];
}

/** The metrics that an expression uses, but for those that Prometheus makes itself. */
export function metricsIn(expr: string): readonly string[] {
  const named = Array.from(expr.matchAll(/__name__=~"([^"]*)"/g), ([, names]) => String(names).split("|"));
  const bare = expr
    .replaceAll(/\{[^}]*\}/g, " ")
    .replaceAll(/\[[^\]]*\]/g, " ")
    .replaceAll(/\b(by|without|on|ignoring)\s*\([^)]*\)/g, " ");
  const words = Array.from(bare.matchAll(/[a-zA-Z_:][\w:]*(?!\w*\s*\()/g), ([word]) => word);
  return [...named.flat(), ...words].filter((word) => !WORDS.has(word) && !OWN.has(word));
}

/** The names of labels that an expression uses. */
export function labelsIn(expr: string): readonly string[] {
  const matched = Array.from(expr.matchAll(/([a-zA-Z_]\w*)\s*(?:=~|!=|!~|=)\s*"/g), ([, label]) => String(label));
  const grouped = Array.from(expr.matchAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g), ([, labels]) =>
    String(labels).split(","),
  );
  return [...matched, ...grouped.flat().map((label) => label.trim())].filter((label) => label !== "__name__");
}

/** A file of the project as text. */
export function read(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
}

function chosen(expr: string): string {
  return expr.replaceAll("$__rate_interval", "1m").replaceAll(/\$(?:job|instance|operation)\b/g, ".*");
}
