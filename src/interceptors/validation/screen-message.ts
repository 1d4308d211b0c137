import { type DescField, type DescMessage, getOption, type MessageShape, ScalarType } from "@bufbuild/protobuf";
import {
  isReflectList,
  isReflectMap,
  isReflectMessage,
  type Path,
  type ReflectMessage,
  reflect,
} from "@bufbuild/protobuf/reflect";
import { ShortText_Kind, screened, screened_as } from "../../gen/cupo/options/v1/options_pb.js";
import { codesOfKind, type ShortTextKind, screenShortText } from "../../screening/screen-short-text.js";
import { recognizers, type ScreeningCode, screenText } from "../../screening/screen-text.js";
import { sizeLimits } from "./size-limits.js";

/** A text in a message, and the code of its forbidden content. The error message never repeats the text. */
export interface ScreeningFinding {
  readonly path: Path;
  readonly code: ScreeningCode;
  readonly message: string;
}

type Located = [steps: Path, value: unknown];

const messages: Readonly<Record<ScreeningCode, string>> = {
  CONTAINS_DIAGNOSIS: "the text must not contain a diagnosis",
  CONTAINS_CREDENTIAL: "the text must not contain a password, key or other credential",
  CONTAINS_FINANCIAL_DATA: "the text must not contain the number of a card or an account or other financial data",
};

const kinds: ReadonlyMap<ShortText_Kind, ShortTextKind> = new Map([
  [ShortText_Kind.NAME, "NAME"],
  [ShortText_Kind.PHONE, "PHONE"],
  [ShortText_Kind.DOCUMENT, "DOCUMENT"],
  [ShortText_Kind.LABEL, "LABEL"],
]);

/** A field to visit: a screened text or, without `screen`, a message that contains some. */
interface Step {
  readonly field: DescField;
  readonly screen?: (text: string) => readonly ScreeningCode[];
}

/** The fields of each message to visit. */
const plans = new WeakMap<DescMessage, readonly Step[]>();

/**
 * Screens the texts of a message that the proto marks `(cupo.options.v1.screened)` or `(cupo.options.v1.screened_as)`,
 * at any depth. Returns a finding for each code of each text. Throws if the mark is on a field that is not a text.
 */
export function screenMessage<D extends DescMessage>(schema: D, message: MessageShape<D>): ScreeningFinding[] {
  return planFor(schema).length > 0 ? screenBelow(reflect(schema, message), []) : [];
}

/**
 * Whether screening messages of this schema may block the thread for milliseconds, because they can have a long text or
 * a list of texts at any depth.
 */
export function hasLongText(schema: DescMessage): boolean {
  return planFor(schema).some(({ field, screen }) => screen === undefined || !isShort(field));
}

/** The highest number of characters of a text that is always screened in much less than a millisecond. */
const SHORT = 500;

function isShort(field: DescField): boolean {
  return sizeLimits(field.parent).some(
    (limit) => limit.field === field && limit.limit <= SHORT && field.fieldKind === "scalar",
  );
}

function planFor(schema: DescMessage): readonly Step[] {
  const known = plans.get(schema);
  if (known !== undefined) return known;
  const plan = schema.fields.flatMap((field): Step[] => {
    const screen = screenOf(field);
    if (screen !== undefined) return [{ field, screen }];
    return holdsScreened(field) ? [{ field }] : [];
  });
  plans.set(schema, plan);
  return plan;
}

function screenOf(field: DescField): Step["screen"] {
  const kind = kinds.get(getOption(field, screened_as));
  if (kind === undefined && !getOption(field, screened)) return undefined;
  if (field.scalar !== ScalarType.STRING)
    throw new Error(`${field.toString()} is marked for screening, but is not a text`);
  return kind === undefined ? screenText : (text) => screenShortText(text, kind);
}

/** Returns the codes that screening can report for a field. Empty if the field is not screened. */
export function screeningCodesOf(field: DescField): readonly ScreeningCode[] {
  const kind = kinds.get(getOption(field, screened_as));
  if (kind !== undefined) return codesOfKind(kind);
  return getOption(field, screened) ? recognizers.map(([code]) => code) : [];
}

/** `seen` stops the recursion at recursive messages. */
function holdsScreened(field: DescField, seen: readonly DescMessage[] = []): boolean {
  if (screenOf(field) !== undefined) return true;
  const { message } = field;
  if (message === undefined || seen.includes(message)) return false;
  return message.fields.some((each) => holdsScreened(each, [...seen, message]));
}

function screenBelow(message: ReflectMessage, place: Path): ScreeningFinding[] {
  const findings: ScreeningFinding[] = [];
  for (const { field, screen } of planFor(message.desc)) {
    for (const [steps, value] of valuesOf(message, field)) {
      if (isReflectMessage(value)) findings.push(...screenBelow(value, [...place, ...steps]));
      const codes = screen?.(String(value)) ?? [];
      for (const code of codes) findings.push({ path: [...place, ...steps], code, message: messages[code] });
    }
  }
  return findings;
}

function valuesOf(message: ReflectMessage, field: DescField): Located[] {
  if (!message.isSet(field)) return [];
  const value: unknown = message.get(field);
  if (isReflectList(value)) return Array.from(value, (item, index) => [[field, { kind: "list_sub", index }], item]);
  if (isReflectMap(value)) {
    return Array.from(value, ([key, item]) => [[field, { kind: "map_sub", key: String(key) }], item]);
  }
  return [[[field], value]];
}
