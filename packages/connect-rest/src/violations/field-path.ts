import type { DescField } from "@bufbuild/protobuf";

/**
 * One step of a JSON path: to a field of a message, an unknown member, an item of a list or an entry of a map. The text
 * of a field step comes from the schema. The texts of member and key steps come from the caller.
 */
export interface Step {
  readonly kind: "field" | "member" | "index" | "key";
  readonly text: string;
  /** The position of the step among its siblings: smaller numbers come first in an answer. */
  readonly order: number;
}

/**
 * The place of a value in a message. The place of the message itself is `undefined`. A path is created for every value
 * that is read, but few paths are rendered. So a path contains only its last step and its parent path.
 */
export interface FieldPath {
  readonly parent: FieldPath | undefined;
  readonly step: Step;
}

const maxNameLength = 64;
const firstMember = Number.MAX_SAFE_INTEGER - 1e9;
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Returns the step to a field of a message. Its `order` is the position of the field in the descriptor. */
export function fieldStep(field: DescField): Step {
  return { kind: "field", text: field.jsonName, order: field.parent.fields.indexOf(field) };
}

/**
 * Returns the path of a nested field. The first item of `fields` is a field of the message. Each further item is a
 * field of the message that the previous item contains. If `fields` is empty, returns undefined: the path of the
 * message itself.
 */
export function pathOf(fields: readonly DescField[]): FieldPath | undefined {
  return fields.map(fieldStep).reduce<FieldPath | undefined>((parent, step) => ({ parent, step }), undefined);
}

/**
 * Returns the step to an unknown member. `order` is its position among the unknown members, from 0. Unknown members
 * come after all fields.
 */
export function memberStep(name: string, order: number): Step {
  return { kind: "member", text: name, order: firstMember + order };
}

/** Returns the step to an item of a list. */
export function indexStep(index: number): Step {
  return { kind: "index", text: "", order: index };
}

/** Returns the step to an entry of a map. `order` is the position of the entry in the map, from 0. */
export function keyStep(key: string, order: number): Step {
  return { kind: "key", text: key, order };
}

/** Returns the steps of a path, from the message to the value. */
export function stepsTo(path: FieldPath | undefined): Step[] {
  const steps: Step[] = [];
  for (let at = path; at !== undefined; at = at.parent) steps.push(at.step);
  return steps.toReversed();
}

/**
 * Renders a path as the text of a JSON path. Names that a caller chose are cut to 64 code points, and their unprintable
 * characters are escaped.
 */
export function renderPath(path: FieldPath | undefined): string {
  return stepsTo(path).reduce((rendered, { kind, text, order }) => {
    if (kind === "index") return `${rendered}[${order}]`;
    if (kind === "key") return `${rendered}[${JSON.stringify(showName(text))}]`;
    const name = kind === "member" ? showName(text) : text;
    return rendered === "" ? name : `${rendered}.${name}`;
  }, "");
}

function showName(name: string): string {
  const cut = Array.from(name.slice(0, 2 * maxNameLength))
    .slice(0, maxNameLength)
    .join("");
  return cut.replace(unprintable, (character) => `\\u${character.codePointAt(0)?.toString(16).padStart(4, "0")}`);
}
