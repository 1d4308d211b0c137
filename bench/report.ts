import { readFileSync, writeFileSync } from "node:fs";
import { describeMachine } from "./machine.js";

/** A bound for a figure. It may have one of the three. */
export interface Goal {
  readonly text: string;
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly below?: number;
}

/** The goals. README.md has the same ones with the latest figures. */
export const GOALS = {
  rawCeiling: { text: "registrations against the raw ceiling", atLeast: 0.65 },
  sameRows: { text: "registrations against an idiomatic service, same rows", atLeast: 3 },
  fourRows: { text: "registrations against an idiomatic service that writes 4 rows", atLeast: 1.8 },
  restToConnect: { text: "REST against Connect JSON, registrations", atLeast: 1 },
  firstAnswer: { text: "first answer after the start, ms", atMost: 500 },
  memory: { text: "resident memory under load, MB", atMost: 150 },
  ruleUpdate: { text: "PATCH of a rule, eight at once, p50 in ms", atMost: 80 },
  search: { text: "search for options: p50 against GetLocation's", atMost: 4 },
  emptySearch: { text: "empty search for options: p50 against GetLocation's", atMost: 2 },
  searchSpread: { text: "search for options: p99/p50 against GetLocation's", atMost: 1 },
  emptySearchStatements: { text: "empty search for options in PostgreSQL, ms", atMost: 1 },
  growth: { text: "1,000,000 rows against 10,000, time of a call", atMost: 1.2 },
  indicators: { text: "indicators of a half-year of 1,000,000 appointments, processor time in ms", atMost: 200 },
  databaseTime: { text: "PostgreSQL's processor time of a registration against the other version's", atMost: 0.75 },
  registrationTime: { text: "processor time of a registration against the other version's", atMost: 0.8 },
  searchTime: { text: "processor time of a page of options against the other version's", atMost: 0.55 },
  otherTenants: { text: "one greedy tenant: other tenants' p50 against none", below: 2 },
  otherTenantsFailed: { text: "one greedy tenant: calls of other tenants that failed", atMost: 0 },
  importRate: { text: "an import beside a tenant that books, rows a second", atLeast: 584 },
  besideImport: { text: "an import: p99 of a booking of another tenant against none", atMost: 1.5 },
} as const satisfies Readonly<Record<string, Goal>>;

/** The measurements of a part. */
export interface Report {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** The figures that have a goal. */
  readonly goals: readonly Figure[];
  /** Every measurement, as JSON. */
  readonly measured: unknown;
  /** Lines after the tables. */
  readonly notes?: readonly string[];
}

/** A figure beside its goal. */
export interface Figure {
  readonly goal: Goal;
  readonly value: number;
}

const RESULTS = "bench/results.json";

/** Returns the report as Markdown: the machine, the measurements and the goals. */
export function textOf({ head, rows, goals, notes = [] }: Report): string {
  const figures = goals.map(({ goal, value }) => [
    goal.text,
    boundOf(goal),
    shown(value),
    isMet(goal, value) ? "met" : "missed",
  ]);
  const tables = [markdownTable(head, rows)];
  if (goals.length > 0) tables.push(markdownTable(["figure", "goal", "measured", ""], figures));
  return [describeMachine(), ...tables, ...notes, ""].join("\n\n");
}

/** Returns a table in Markdown without a line end after it. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Replaces the results of a part in the file of results, which has a line for each part. */
export function record(part: string, { measured }: Report): void {
  const results: Record<string, unknown> = JSON.parse(readFileSync(RESULTS, "utf8"));
  results[part] = { machine: describeMachine(), measured: rounded(measured) };
  const lines = Object.entries(results).map(([name, result]) => `  ${JSON.stringify(name)}: ${JSON.stringify(result)}`);
  writeFileSync(RESULTS, `{\n${lines.join(",\n")}\n}\n`);
}

/** Keeps three decimals of each number. */
function rounded(measured: unknown): unknown {
  const text = JSON.stringify(measured, (_, value) => (typeof value === "number" ? Number(value.toFixed(3)) : value));
  return JSON.parse(text);
}

/** Returns a goal's bound with its sign. */
export function boundOf({ atLeast, atMost, below }: Goal): string {
  if (atLeast !== undefined) return `≥ ${atLeast}`;
  return atMost === undefined ? `< ${below}` : `≤ ${atMost}`;
}

function isMet({ atLeast, atMost, below }: Goal, value: number): boolean {
  if (atLeast !== undefined) return value >= atLeast;
  if (atMost !== undefined) return value <= atMost;
  return below !== undefined && value < below;
}

function shown(value: number): string {
  return value < 20 ? String(Number(value.toFixed(2))) : value.toFixed(0);
}
