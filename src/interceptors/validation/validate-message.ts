import { createRegistry, type DescField, type DescMessage, type Message, type MessageShape } from "@bufbuild/protobuf";
import {
  isReflectList,
  isReflectMessage,
  type Path,
  type ReflectList,
  type ReflectMap,
  type ReflectMessage,
  reflect,
} from "@bufbuild/protobuf/reflect";
import { createValidator, type Violation } from "@bufbuild/protovalidate";
import { FieldRulesSchema } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import type { FieldError, FieldErrorCode } from "../../errors.js";
import { file_cupo_options_v1_rules as projectRules } from "../../gen/cupo/options/v1/rules_pb.js";
import { memoized } from "../../memoized.js";
import { fieldRulesOf } from "../../proto-options.js";
import { isUuid } from "../../uuid.js";
import { createMeasure } from "./measure-message.js";
import { type RuleCode, ruleCode, ruleRank } from "./rule-codes.js";
import { createScreening, type ScreeningFinding } from "./screen-message.js";
import type { SizeLimit } from "./size-limits.js";
import { createListSkipper } from "./verified-lists.js";

/** The shared validator of all schemas. It compiles the rules of each schema once, because compiling is expensive. */
const validator = createValidator({ registry: createRegistry(projectRules), regexMatch: createRegexMatch() });

const LAST_RANK = Number.MAX_SAFE_INTEGER;

interface BrokenRule {
  readonly path: Path;
  readonly ruleId: string;
  readonly message: string;
}

/** An error to report. Of two errors with the same path and code, only the one with the lower rank is reported. */
interface Item {
  readonly path: Path;
  readonly code: FieldErrorCode;
  readonly message: string;
  readonly rank: number;
}

/**
 * Returns the validator of a schema. It is compiled once, at its first use. It checks messages by the rules of
 * protovalidate, of cupo/options/v1/rules.proto and of the options of the message. It also screens the texts that the
 * proto marks for screening.
 *
 * - It returns one item per field and code, and an empty list for a valid message. For one field, the most specific
 *   item comes first. Otherwise the order is undefined.
 * - `field` is a JSON path such as `practitionerIds[2]`.
 * - No item contains a value of the message.
 * - The content of a list or text that is too large is not validated, unless it is in a nested message.
 * - It throws for a rule that does not compile, fails while it runs, or has no entry in the table of codes.
 */
export function messageValidatorOf<D extends DescMessage>(schema: D): (message: MessageShape<D>) => FieldError[] {
  return (message) => compiledValidator(schema)(message);
}

const compiledValidator = memoized((schema: DescMessage) => {
  const measure = createMeasure(schema);
  const skipVerified = createListSkipper(schema);
  const screen = createScreening(schema);
  return (whole: Message): FieldError[] => {
    const { message, tooLarge } = measure(whole);
    const result = validator.validate(schema, skipVerified(message));
    if (result.kind === "error") throw result.error;
    const screened = screen(message);
    if (result.kind === "valid" && screened.length === 0 && tooLarge.length === 0) return [];
    const remaining = (result.violations ?? []).filter(
      ({ field: [first] }) => !tooLarge.some((l) => l.field === first),
    );
    return fieldErrors(reflect(schema, message), { violations: remaining, screened, tooLarge });
  };
});

/**
 * Returns a function that matches patterns with the engine of JavaScript. Compared with RE2, the default, this engine
 * halves the time of a validation. It is safe, because every pattern is a constant in the project's protos and cannot
 * backtrack far. The cache has at most one entry per rule.
 */
function createRegexMatch(): (pattern: string, against: string) => boolean {
  const compiled = new Map<string, RegExp>();
  return (pattern, against) => {
    let expression = compiled.get(pattern);
    if (expression === undefined) {
      expression = new RegExp(pattern, "u");
      compiled.set(pattern, expression);
    }
    return expression.test(against);
  };
}

interface Judged {
  readonly violations: readonly Violation[];
  readonly screened: readonly ScreeningFinding[];
  readonly tooLarge: readonly SizeLimit[];
}

function fieldErrors(message: ReflectMessage, { violations, screened, tooLarge }: Judged): FieldError[] {
  const sizes = tooLarge.map(sizeRule);
  const ofFields = violations.filter(({ ruleId }) => ruleCode(ruleId).fields === undefined);
  const broken = new Set(
    [...sizes.map(({ path }) => path), ...ofFields.map(({ field }) => field)].map(jsonPathOfField),
  );
  const rules = [...sizes, ...violations.flatMap((violation) => brokenRules(message, violation, broken))];
  const items = [...rules.map(itemOf), ...screened.map((item) => ({ ...item, rank: LAST_RANK }))];
  const errors = items
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ path, code, message: text }) => ({ code, field: jsonPath(path), message: text }));
  return withoutRepetition(errors);
}

function itemOf({ path, ruleId, message }: BrokenRule): Item {
  return { path, code: ruleCode(ruleId).code, message, rank: ruleRank(ruleId) };
}

function sizeRule({ field, ruleId, limit }: SizeLimit): BrokenRule {
  const { message = ruleId } = ruleCode(ruleId);
  return { path: [field], ruleId, message: message.replace(/\{\w+\}/, String(limit)) };
}

function brokenRules(message: ReflectMessage, violation: Violation, broken: ReadonlySet<string>): BrokenRule[] {
  const { field: path, ruleId } = violation;
  const entry = ruleCode(ruleId);
  const rule = { path, ruleId, message: messageOf(violation, entry) };
  if (entry.code === "DUPLICATE" && entry.fields === undefined) return repeatedItems(message, rule);
  if (ruleId === "repeated.uuids") return itemsWhere(message, rule, (item) => !isUuid(String(item)));
  if (entry.fields === undefined) return [rule];
  const { desc } = messageAt(message, path);
  const compared = entry.fields.map((name) => path.concat(fieldNamed(desc, name)));
  const last = compared.at(-1);
  if (last === undefined || compared.some((each) => broken.has(jsonPath(each)))) return [];
  return [{ ...rule, path: last }];
}

function messageOf(violation: Violation, { message }: RuleCode): string {
  if (message === undefined) return violation.message;
  return message.replace(/\{(\w+)\}/g, (_, name: string) => limitBeside(violation, name));
}

/** Returns the value of the rule `name` of the field that broke a rule, such as 200 for `max_len`. */
function limitBeside({ field: path, rule }: Violation, name: string): string {
  const rules = messageAt(reflect(FieldRulesSchema, fieldRulesOf(lastField(path))), rule.slice(0, -1));
  const limit: unknown = rules.get(fieldNamed(rules.desc, name));
  return String(limit);
}

/**
 * Returns a broken rule for each item that duplicates an earlier item of the list, as the rule compares items: it may
 * ignore case. Protovalidate reports only the whole list.
 */
function repeatedItems(message: ReflectMessage, rule: BrokenRule): BrokenRule[] {
  const seen = new Set<unknown>();
  return itemsWhere(message, rule, (item) => {
    const value = rule.ruleId === "repeated.unique_ignoring_case" ? String(item).toLowerCase() : item;
    return seen.has(value) || !seen.add(value);
  });
}

/** Returns a broken rule for each item of the list for which `isBad` returns true, with the path of the item. */
function itemsWhere(message: ReflectMessage, rule: BrokenRule, isBad: (item: unknown) => boolean): BrokenRule[] {
  const { path, ruleId } = rule;
  const list = path.reduce<unknown>(childAt, message);
  if (!isReflectList(list)) throw new Error(`the rule ${ruleId} is on ${jsonPath(path)}, which is not a list`);
  return Array.from(list, (item, index) =>
    isBad(item) ? [{ ...rule, path: [...path, { kind: "list_sub" as const, index }] }] : [],
  ).flat();
}

function messageAt(root: ReflectMessage, path: Path): ReflectMessage {
  const found = path.reduce<unknown>(childAt, root);
  if (!isReflectMessage(found)) throw new Error(`${root.desc.typeName} has no message at ${jsonPath(path)}`);
  return found;
}

function childAt(parent: unknown, step: Path[number]): unknown {
  if (step.kind === "field") return (parent as ReflectMessage).get(step);
  if (step.kind === "list_sub") return (parent as ReflectList).get(step.index);
  return step.kind === "map_sub" ? (parent as ReflectMap).get(step.key) : undefined;
}

function lastField(path: Path): DescField {
  const last = path[lastFieldIndex(path)];
  if (last?.kind !== "field") throw new Error("the violation names no field");
  return last;
}

function lastFieldIndex(path: Path): number {
  return path.findLastIndex(({ kind }) => kind === "field");
}

function fieldNamed(schema: DescMessage, name: string): DescField {
  const field = schema.fields.find((each) => each.name === name);
  if (field === undefined) throw new Error(`${schema.typeName} has no field ${name}`);
  return field;
}

/** Returns the JSON path of the last field in a path, such as `items` for the path `items[2]`. */
function jsonPathOfField(path: Path): string {
  return jsonPath(path.slice(0, lastFieldIndex(path) + 1));
}

function jsonPath(path: Path): string {
  return path.reduce((text, step) => {
    if (step.kind === "list_sub") return `${text}[${step.index}]`;
    if (step.kind === "map_sub") return `${text}[${JSON.stringify(String(step.key))}]`;
    const name = step.kind === "oneof" ? step.name : step.jsonName;
    return text === "" ? name : `${text}.${name}`;
  }, "");
}

function withoutRepetition(errors: readonly FieldError[]): FieldError[] {
  const seen = new Set<string>();
  return errors.filter(({ field, code }) => {
    const key = `${field} ${code}`;
    return !seen.has(key) && seen.add(key);
  });
}
