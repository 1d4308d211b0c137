import { create, type DescField, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import { isReflectList, reflect } from "@bufbuild/protobuf/reflect";
import { type SizeLimit, sizeLimits } from "./size-limits.js";

/** A message without its lists and texts that are too large, and the limits that those are over. */
export interface MeasuredMessage<D extends DescMessage> {
  readonly message: MessageShape<D>;
  readonly tooLarge: readonly SizeLimit[];
}

/**
 * Measures the lists and the single texts of a message, so that nothing in one that is too large is looked at: work on a
 * request is bounded by its limits. Messages within the message are not gone into. Gives the message itself where all fits.
 */
export function measureMessage<D extends DescMessage>(schema: D, message: MessageShape<D>): MeasuredMessage<D> {
  const measured = reflect(schema, message);
  const tooLarge = sizeLimits(schema).filter(({ field, limit }) => exceeds(measured.get(field), limit));
  if (tooLarge.length === 0) return { message, tooLarge };
  return { message: messageWithout(schema, message, new Set(tooLarge.map(({ field }) => field))), tooLarge };
}

/** A message that has what another has, but for these fields. */
export function messageWithout<D extends DescMessage>(
  schema: D,
  message: MessageShape<D>,
  left: ReadonlySet<DescField>,
): MessageShape<D> {
  const source = reflect(schema, message);
  const rest = create(schema);
  const target = reflect(schema, rest);
  for (const field of schema.fields) {
    if (!left.has(field) && source.isSet(field)) target.set(field, source.get(field));
  }
  return rest;
}

function exceeds(value: unknown, limit: number): boolean {
  if (isReflectList(value)) return value.size > limit;
  if (typeof value !== "string" || value.length <= limit) return false;
  return value.length > 2 * limit || codePoints(value) > limit;
}

function codePoints(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) count += 1;
  return count;
}
