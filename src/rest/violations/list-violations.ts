import type { DescField, DescMessage } from "@bufbuild/protobuf";
import type { PlacedViolation } from "./collect-violations.js";
import { type Place, renderPlace, stepsTo } from "./place.js";
import type { Violation } from "./violation.js";

/** How many violations an answer lists. */
export const maxViolations = 100;

const steps = /([^.[\]]+)|\[(?:(\d+)|[^\]]*)\]/g;

interface Ordered {
  readonly orders: readonly number[];
  readonly violation: PlacedViolation | Violation;
}

/**
 * The one statement of what an answer says of a request that is wrong: every violation, in the order of the descriptor's
 * fields, path by path, with members without a field behind their siblings in the order they came. Where there are more
 * than {@link maxViolations}, the first of them and then one MORE_ERRORS, for the message as a whole, that says how many
 * are left out.
 *
 * `judged` is what a validator says of the message, `found` what was wrong when it was read. What the validator says at,
 * below or above a place that could not be read does not count: it judged a value that was not there. Takes time linear to
 * the number of violations where each of the two lists is in order already.
 */
export function listViolations(
  schema: DescMessage,
  judged: readonly Violation[],
  found: readonly PlacedViolation[] = [],
): Violation[] {
  const ordered: Ordered[] = [
    ...found.map((violation) => ({ violation, orders: stepsTo(violation.place).map(({ order }) => order) })),
    ...soundAmong(judged, found).map((violation) => ({ violation, orders: ordersOf(schema, violation.field) })),
  ].toSorted((a, b) => compareOrders(a.orders, b.orders));
  const listed = ordered.slice(0, maxViolations).map(({ violation }) => written(violation));
  return ordered.length > maxViolations ? [...listed, moreErrors(ordered.length - maxViolations)] : listed;
}

function written(violation: PlacedViolation | Violation): Violation {
  if ("field" in violation) return violation;
  const { code, place, message } = violation;
  return { code, field: renderPlace(place), message };
}

function moreErrors(count: number): Violation {
  const message = count === 1 ? "1 more error is not listed" : `${count} more errors are not listed`;
  return { code: "MORE_ERRORS", field: "", message };
}

function soundAmong(judged: readonly Violation[], found: readonly PlacedViolation[]): readonly Violation[] {
  const unread = found.filter(({ code }) => code !== "UNKNOWN_FIELD");
  if (judged.length === 0 || unread.length === 0) return judged;
  const paths = new Set(unread.map(({ place }) => renderPlace(place)));
  const above = new Set<Place | undefined>(unread.map(({ place }) => place));
  for (const place of above) above.add(place?.parent);
  const pathsAbove = new Set([...above].map(renderPlace));
  return judged.filter(({ field }) => !pathsAbove.has(field) && !pathsFrom(field).some((path) => paths.has(path)));
}

/** The path and those of everything that it leads through, "" included. */
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
