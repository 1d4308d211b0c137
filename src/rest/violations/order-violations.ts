import type { DescField, DescMessage } from "@bufbuild/protobuf";
import type { Violation } from "../rest-error.js";
import { type Finding, maxViolations } from "./findings.js";

const steps = /([^.[\]]+)|\[(?:(\d+)|[^\]]*)\]/g;

/**
 * Joins what reading found with what a validator found on the message that could be read, in the order of the descriptor's
 * fields, path by path; members without a field follow their siblings in the order they came. What the validator says at,
 * below or above a path that could not be read is left out: it judged a value that was not there. Lists at most
 * {@link maxViolations}.
 */
export function orderViolations(
  schema: DescMessage,
  found: readonly Finding[],
  judged: readonly Violation[],
): Violation[] {
  const unread = found.flatMap(({ violation: { code, field } }) => (code === "UNKNOWN_FIELD" ? [] : [field]));
  const sound = judged.filter(({ field }) => !unread.some((path) => contains(path, field) || contains(field, path)));
  const placed = [...found, ...sound.map((violation) => ({ violation, orders: ordersOf(schema, violation.field) }))];
  return placed
    .toSorted((a, b) => compareOrders(a.orders, b.orders))
    .slice(0, maxViolations)
    .map(({ violation }) => violation);
}

function contains(outer: string, inner: string): boolean {
  if (outer === "" || outer === inner) return true;
  return inner.startsWith(outer) && (inner[outer.length] === "." || inner[outer.length] === "[");
}

function ordersOf(schema: DescMessage, path: string): number[] {
  let parent: DescMessage | undefined = schema;
  return Array.from(path.matchAll(steps), ([, name, index]) => {
    if (name === undefined) return Number(index ?? 0);
    const order = memberOrder(parent, name);
    parent = messageOf(parent?.fields[order]);
    return order;
  });
}

function memberOrder(schema: DescMessage | undefined, name: string): number {
  const index = schema?.fields.findIndex((f) => f.jsonName === name || f.oneof?.name === name) ?? -1;
  return index < 0 ? Number.MAX_SAFE_INTEGER : index;
}

function messageOf(field: DescField | undefined): DescMessage | undefined {
  return field?.fieldKind === "scalar" || field?.fieldKind === "enum" ? undefined : field?.message;
}

function compareOrders(a: readonly number[], b: readonly number[]): number {
  for (const [index, order] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    if (order !== other) return order - other;
  }
  return a.length - b.length;
}
