import type { DescField } from "@bufbuild/protobuf";

/**
 * One step of a JSON path: to a field of a message, to a member that no field takes, to an item of a list or to an entry of
 * a map. Only the steps to fields have a text of the schema; members and keys are named by the caller.
 */
export interface Step {
  readonly kind: "field" | "member" | "index" | "key";
  readonly text: string;
  /** The place among its siblings. */
  readonly order: number;
}

/** Where in a message a value stands; undefined for the message itself. Made for every value, rendered for few. */
export interface Place {
  readonly parent: Place | undefined;
  readonly step: Step;
}

const maxNameLength = 64;
const firstMember = Number.MAX_SAFE_INTEGER - 1e9;
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** The step to a field of a message, in the order of the descriptor. */
export function fieldStep(field: DescField): Step {
  return { kind: "field", text: field.jsonName, order: field.parent.fields.indexOf(field) };
}

/** The place of the field at the end of a path of fields from the message down. */
export function placeOf(fields: readonly DescField[]): Place | undefined {
  return fields.map(fieldStep).reduce<Place | undefined>((parent, step) => ({ parent, step }), undefined);
}

/** The step to the `order`th member that no field takes; these follow the fields. */
export function memberStep(name: string, order: number): Step {
  return { kind: "member", text: name, order: firstMember + order };
}

/** The step to an item of a list. */
export function indexStep(index: number): Step {
  return { kind: "index", text: "", order: index };
}

/** The step to an entry of a map, the `order`th that was met. */
export function keyStep(key: string, order: number): Step {
  return { kind: "key", text: key, order };
}

/** The steps to a place, from the message down. */
export function stepsTo(place: Place | undefined): Step[] {
  const steps: Step[] = [];
  for (let at = place; at !== undefined; at = at.parent) steps.push(at.step);
  return steps.toReversed();
}

/**
 * A place as a JSON path. Names that a caller made up are fit to be shown: at most 64 code points, without characters that
 * do not print.
 */
export function renderPlace(place: Place | undefined): string {
  return stepsTo(place).reduce((path, { kind, text, order }) => {
    if (kind === "index") return `${path}[${order}]`;
    if (kind === "key") return `${path}[${JSON.stringify(showName(text))}]`;
    const name = kind === "member" ? showName(text) : text;
    return path === "" ? name : `${path}.${name}`;
  }, "");
}

function showName(name: string): string {
  const cut = Array.from(name.slice(0, 2 * maxNameLength))
    .slice(0, maxNameLength)
    .join("");
  return cut.replace(unprintable, (character) => `\\u${character.codePointAt(0)?.toString(16).padStart(4, "0")}`);
}
