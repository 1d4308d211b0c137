import { createRegistry, type DescField, type DescMessage, getOption, type MessageShape } from "@bufbuild/protobuf";
import {
  isReflectList,
  isReflectMap,
  isReflectMessage,
  type Path,
  type ReflectMessage,
  reflect,
} from "@bufbuild/protobuf/reflect";
import { createValidator, type Violation } from "@bufbuild/protovalidate";
import { FieldRulesSchema, field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import type { FieldError, FieldErrorCode } from "../../errors.js";
import { file_cupo_options_v1_rules as projectRules } from "../../gen/cupo/options/v1/rules_pb.js";
import { isUuid } from "../../uuid.js";
import { measureMessage } from "./measure-message.js";
import { type RuleCode, ruleCode, ruleRank } from "./rule-codes.js";
import { type ScreeningFinding, screenMessage } from "./screen-message.js";
import type { SizeLimit } from "./size-limits.js";
import { withoutSoundLists } from "./sound-lists.js";

/** One for all who validate, because it compiles the rules of a message when it first meets one, which is dear. */
const validator = createValidator({ registry: createRegistry(projectRules), regexMatch: createRegexMatch() });

const LAST_RANK = Number.MAX_SAFE_INTEGER;

/** A broken rule at its place. */
interface BrokenRule {
  readonly path: Path;
  readonly ruleId: string;
  readonly message: string;
}

/** Something to report; of two at the same place with the same code, the one with the lower rank tells more. */
interface Item {
  readonly path: Path;
  readonly code: FieldErrorCode;
  readonly message: string;
  readonly rank: number;
}

/**
 * Makes the function that holds messages to the rules in their protos: protovalidate's own, those in
 * cupo/options/v1/rules.proto, those on messages, and the screening of texts that are marked for it. It gives one item for
 * each field and code, an empty list for a valid message; at one place the item that tells most comes first, and nothing
 * else is ordered. `field` is a JSON path such as `practitionerIds[2]`. No item repeats a value. A list or text that is too
 * large is judged no further, so that the time is linear to what the limits let through. It throws where a rule itself is
 * faulty: cannot be compiled, fails while it runs, or is missing in the table of codes.
 */
export function createMessageValidator(): <D extends DescMessage>(schema: D, message: MessageShape<D>) => FieldError[] {
  return (schema, whole) => {
    const { message, tooLarge } = measureMessage(schema, whole);
    const result = validator.validate(schema, withoutSoundLists(schema, message));
    if (result.kind === "error") throw result.error;
    const screened = screenMessage(schema, message);
    if (result.kind === "valid" && screened.length === 0 && tooLarge.length === 0) return [];
    const sound = (result.violations ?? []).filter(({ field: [first] }) => !tooLarge.some((l) => l.field === first));
    return fieldErrors(reflect(schema, message), { violations: sound, screened, tooLarge });
  };
}

/**
 * Matches with the platform's engine, which halves the time to judge a whole request against the default one, RE2. Safe
 * because every pattern is a constant of the project's own protos, written so that it cannot backtrack far. There are
 * only as many patterns as rules.
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
  const { message } = ruleCode(ruleId);
  return { path: [field], ruleId, message: message?.replace(/\{\w+\}/, String(limit)) ?? ruleId };
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

/** The value of the rule `name` that stands beside the broken one in the options of the field. */
function limitBeside({ field: path, rule }: Violation, name: string): string {
  const rules = messageAt(reflect(FieldRulesSchema, getOption(lastField(path), fieldRules)), rule.slice(0, -1));
  const limit: unknown = rules.get(fieldNamed(rules.desc, name));
  if (typeof limit !== "bigint" && typeof limit !== "number") throw new Error(`the rule ${name} states no number`);
  return limit.toString();
}

/** One for each item that an earlier item equals, since uniqueness is a rule of the list as a whole. */
function repeatedItems(message: ReflectMessage, rule: BrokenRule): BrokenRule[] {
  const seen = new Set<unknown>();
  return itemsWhere(message, rule, (item) => {
    const value = rule.ruleId === "repeated.unique_ignoring_case" ? String(item).toLowerCase() : item;
    return seen.has(value) || !seen.add(value);
  });
}

/** The rule of a list as one of each item that breaks it. */
function itemsWhere(message: ReflectMessage, rule: BrokenRule, isBad: (item: unknown) => boolean): BrokenRule[] {
  const { path, ruleId } = rule;
  const list = path.reduce<unknown>(childAt, message);
  if (!isReflectList(list)) throw new Error(`${ruleId} stands on ${jsonPath(path)}, which is no list`);
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
  if (step.kind === "field" && isReflectMessage(parent)) return parent.get(step);
  if (step.kind === "list_sub" && isReflectList(parent)) return parent.get(step.index);
  if (step.kind === "map_sub" && isReflectMap(parent)) return parent.get(step.key);
  return undefined;
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

/** The path of the field that the end of a path is in. */
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
