import { create, type DescField, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import { isReflectList, reflect } from "@bufbuild/protobuf/reflect";
import { type SizeLimit, sizeLimits } from "./size-limits.js";

/** A message without the lists and texts that are too large, and the limits that the removed fields exceed. */
export interface MeasuredMessage<D extends DescMessage> {
  readonly message: MessageShape<D>;
  readonly tooLarge: readonly SizeLimit[];
}

/**
 * Compiles a function that measures the lists and texts in the top-level fields of a message: the number of items of
 * each list and the length of each text. Texts in lists are not measured. The function returns the message without the
 * lists and texts that are too large, and the limits that they exceed. If none is too large, it returns the message
 * itself. So the validation spends no time on the content of too large lists and texts.
 */
export function createMeasure<D extends DescMessage>(schema: D): (message: MessageShape<D>) => MeasuredMessage<D> {
  const limits = sizeLimits(schema);
  if (limits.length === 0) return (message) => ({ message, tooLarge: limits });
  return (message) => {
    const measured = reflect(schema, message);
    const tooLarge = limits.filter(({ field, limit }) => exceeds(measured.get(field), limit));
    if (tooLarge.length === 0) return { message, tooLarge };
    return { message: messageWithout(schema, message, new Set(tooLarge.map(({ field }) => field))), tooLarge };
  };
}

/** Returns a copy of a message without the fields in `left`. */
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
  const isLong = typeof value === "string" && value.length > limit;
  return isLong && (value.length > 2 * limit || codePoints(value) > limit);
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
