import { operationOf } from "../../src/operation.js";
import { expectProblem } from "../support/problem.js";
import type { TestService } from "../support/service.js";
import type { GeneratedRequest } from "./generated-requests.js";
import { MARKER } from "./good-values.js";
import type { Verdict } from "./send-generated.js";

/** Patterns that reveal the implementation. */
const INTERNALS = [
  /\bat \S+ \(?(file:|\/)\S+:\d+/,
  /node_modules|node:internal/,
  /\b(Type|Range|Reference|Syntax)Error\b/,
  /\b(SELECT|INSERT INTO|DELETE FROM|UPDATE \w+ SET)\b/,
  /_pkey\b|_excl\b|_fkey\b|_idx\b|SQLSTATE|violates|\brelation "/,
  /\[object Object\]|\bundefined\b/,
];
/** pino's level of errors. */
const ERROR_LEVEL = 50;

/**
 * Returns the violations of an answer: a status that the operation does not list, or a rejection that reveals
 * something.
 */
export function faultsOf({ method }: GeneratedRequest, verdict: Verdict): string[] {
  const { successStatus, errorStatuses } = operationOf(method);
  const { status, everything } = verdict;
  if (status === successStatus) return [];
  if (status >= 500 || !errorStatuses.includes(status)) return [`the status is ${status}: ${verdict.text}`];
  expectProblem(verdict, status);
  return leaksIn("the answer", everything);
}

/** Returns the violations in the log from this line on. */
export function faultsInLog(log: TestService["log"], from: number): string[] {
  const lines = log.slice(from);
  const failures = lines.filter(({ level }) => Number(level) >= ERROR_LEVEL);
  return [
    ...failures.map((line) => `the log has an error: ${JSON.stringify(line)}`),
    ...lines.flatMap((line) => leaksIn("the log", JSON.stringify(line))),
  ];
}

/** Returns the effects of a rejected request; empty if there are none. */
export async function tracesOf(service: TestService, { correlationId }: Verdict): Promise<string[]> {
  if (correlationId === undefined) return [];
  const tables = ["audit_events", "idempotency_keys"];
  const parts = tables.map(
    (table) => `SELECT '${table}' AS found FROM ${table} WHERE correlation_id = '${correlationId}'`,
  );
  const rows = await service.query(parts.join(" UNION ALL "));
  return rows.map(({ found }) => `a refused request is in ${String(found)}`);
}

function leaksIn(where: string, text: string): string[] {
  const isMarked = text.toLowerCase().includes(MARKER.toLowerCase());
  const shown = INTERNALS.filter((pattern) => pattern.test(text));
  return [
    ...(isMarked ? [`${where} repeats what was sent: ${text}`] : []),
    ...shown.map((pattern) => `${where} shows ${pattern}: ${text}`),
  ];
}
