import type { DescField, DescMessage } from "@bufbuild/protobuf";
import type { LocatedViolation } from "./collect-violations.js";
import { type FieldPath, renderPath, stepsTo } from "./field-path.js";
import type { TranscoderViolation, Violation } from "./violation.js";

/** Maximum number of violations in an answer. */
const maxViolations = 100;

const steps = /([^.[\]]+)|\[(?:(\d+)|[^\]]*)\]/g;

interface Ordered<V extends Violation> {
  readonly orders: readonly number[];
  readonly violation: LocatedViolation | V;
}

/**
 * Lists the violations of a request for its answer, in the order of the fields in the descriptor. Unknown members
 * follow their siblings, in the order in which they were sent. Lists at most {@link maxViolations}. If there are more,
 * one additional violation with the code MORE_ERRORS states how many are missing.
 *
 * `found` are violations from reading the request. `judged` are violations that a validator found in the message. The
 * message lacks values that could not be read, so violations in `judged` about them are dropped. For example, if `a.b`
 * could not be read, violations of `a`, `a.b` and `a.b.c` are dropped.
 */
export function listViolations<V extends Violation>(
  schema: DescMessage,
  judged: readonly V[],
  found: readonly LocatedViolation[] = [],
): (V | TranscoderViolation)[] {
  const ordered: Ordered<V>[] = [
    ...found.map((violation) => ({ violation, orders: stepsTo(violation.path).map(({ order }) => order) })),
    ...soundAmong(judged, found).map((violation) => ({ violation, orders: ordersOf(schema, violation.field) })),
  ].toSorted((a, b) => compareOrders(a.orders, b.orders));
  const listed = ordered.slice(0, maxViolations).map(({ violation }) => written(violation));
  return ordered.length > maxViolations ? [...listed, moreErrors(ordered.length - maxViolations)] : listed;
}

function written<V extends Violation>(violation: LocatedViolation | V): V | TranscoderViolation {
  if ("field" in violation) return violation;
  const { code, path, message } = violation;
  return { code, field: renderPath(path), message };
}

function moreErrors(count: number): TranscoderViolation {
  const message = count === 1 ? "1 more error is not listed" : `${count} more errors are not listed`;
  return { code: "MORE_ERRORS", field: "", message };
}

function soundAmong<V extends Violation>(judged: readonly V[], found: readonly LocatedViolation[]): readonly V[] {
  const unread = found.filter(({ code }) => code !== "UNKNOWN_FIELD");
  if (judged.length === 0 || unread.length === 0) return judged;
  const paths = new Set(unread.map(({ path }) => renderPath(path)));
  const above = new Set<FieldPath | undefined>(unread.map(({ path }) => path));
  for (const path of above) above.add(path?.parent);
  const pathsAbove = new Set([...above].map(renderPath));
  return judged.filter(({ field }) => !pathsAbove.has(field) && !pathsFrom(field).some((path) => paths.has(path)));
}

/** Returns the path and all its prefixes, including "". */
function pathsFrom(path: string): string[] {
  return ["", ...Array.from(path.matchAll(/[.[]/g), ({ index }) => path.slice(0, index)), path];
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
  const common = Math.min(a.length, b.length);
  for (let at = 0; at < common; at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
