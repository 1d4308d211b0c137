import type { DescField } from "@bufbuild/protobuf";
import type { Violation, ViolationCode } from "../rest-error.js";

/** One step of a JSON path, with its place among its siblings. */
export interface Step {
  readonly kind: "member" | "index" | "key";
  readonly text: string;
  readonly order: number;
}

/** Where in a message a value stands; undefined for the message itself. Made for every value, rendered for the bad ones. */
export interface Location {
  readonly parent: Location | undefined;
  readonly step: Step;
}

/** A violation and, from the root down, the places among their siblings of the steps to it. */
export interface Finding {
  readonly violation: Violation;
  readonly orders: readonly number[];
}

/** Collects what is wrong with one request. */
export interface Findings {
  readonly items: Finding[];
  /** How many members without a field were met, so that they keep the order they came in. */
  unknownMembers: number;
}

/** The most violations that one answer lists; the rest are left out. */
export const maxViolations = 100;

const maxNameLength = 64;
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** An empty list of findings. */
export function createFindings(): Findings {
  return { items: [], unknownMembers: 0 };
}

/** Adds a violation, unless there are {@link maxViolations} of them. Gives undefined, which is what a reader then gives. */
export function addFinding(
  findings: Findings,
  code: ViolationCode,
  at: Location | undefined,
  message: string,
): undefined {
  if (findings.items.length >= maxViolations) return;
  const steps: Step[] = [];
  for (let location = at; location !== undefined; location = location.parent) steps.unshift(location.step);
  const violation = { code, field: renderPath(steps), message };
  findings.items.push({ violation, orders: steps.map(({ order }) => order) });
}

/** Adds the violation of a member that no field takes. */
export function addUnknownMember(findings: Findings, parent: Location | undefined, name: string): void {
  findings.unknownMembers += 1;
  const order = Number.MAX_SAFE_INTEGER - 1e9 + findings.unknownMembers;
  const step: Step = { kind: "member", text: showName(name), order };
  addFinding(findings, "UNKNOWN_FIELD", { parent, step }, "there is no such field here");
}

/** The step to a field of a message: its JSON name, in the order of the descriptor. */
export function fieldStep(field: DescField): Step {
  return { kind: "member", text: field.jsonName, order: field.parent.fields.indexOf(field) };
}

/** The step to an item of a list. */
export function indexStep(index: number): Step {
  return { kind: "index", text: String(index), order: index };
}

/** The step to an entry of a map, the `order`th that was met. */
export function keyStep(key: string, order: number): Step {
  return { kind: "key", text: JSON.stringify(showName(key)), order };
}

/** A name that a caller made up, fit to be shown: at most 64 code points, without characters that do not print. */
export function showName(name: string): string {
  const cut = Array.from(name.slice(0, 2 * maxNameLength))
    .slice(0, maxNameLength)
    .join("");
  return cut.replace(unprintable, (character) => `\\u${character.codePointAt(0)?.toString(16).padStart(4, "0")}`);
}

function renderPath(steps: readonly Step[]): string {
  return steps.reduce((path, { kind, text }) => {
    if (kind !== "member") return `${path}[${text}]`;
    return path === "" ? text : `${path}.${text}`;
  }, "");
}
