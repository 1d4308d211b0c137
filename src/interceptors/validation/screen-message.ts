import { type DescField, type DescMessage, type MessageShape, ScalarType } from "@bufbuild/protobuf";
import {
  isReflectList,
  isReflectMap,
  isReflectMessage,
  type Path,
  type ReflectMessage,
  reflect,
} from "@bufbuild/protobuf/reflect";
import { ShortText_Kind } from "../../gen/cupo/options/v1/options_pb.js";
import { isScreened, screenedAsOf } from "../../proto-options.js";
import { codesOfKind, type ShortTextKind, screenShortText } from "../../screening/screen-short-text.js";
import { recognizers, type ScreeningCode, screenText } from "../../screening/screen-text.js";
import { areItemsJudged, sizeLimits } from "./size-limits.js";

/** The path of a text with forbidden content, and the error code and message. The message never repeats the text. */
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

type ScreenText = (text: string) => readonly ScreeningCode[];

/** A field to visit: a screened text, or a message that contains screened texts. */
type Step = { readonly field: DescField } & (
  | { readonly screen: ScreenText }
  /** The steps within the message. Filled after the step is created, because messages can be recursive. */
  | { readonly below: readonly Step[] }
);

/**
 * Compiles a function that screens the texts of a message at any depth. The function returns a finding for each kind of
 * forbidden content in a text. It screens the texts with the proto option `(cupo.options.v1.screened)` or
 * `(cupo.options.v1.screened_as)`. It skips lists whose items the operation itself validates ({@link areItemsJudged}).
 * Throws if a field with one of these options is not a text.
 */
export function createScreening<D extends DescMessage>(schema: D): (message: MessageShape<D>) => ScreeningFinding[] {
  const steps = stepsOf(schema, new Map());
  return steps.length === 0 ? () => [] : (message) => screenBelow(steps, reflect(schema, message), []);
}

/**
 * Whether messages of this schema can have a long screened text, a list of screened texts, or screened texts in nested
 * messages. Screening such a message may block the thread for milliseconds.
 */
export function hasLongText(schema: DescMessage): boolean {
  return stepsOf(schema, new Map()).some((step) => "below" in step || !isShort(step.field));
}

/** A text of at most this many characters is always screened in much less than a millisecond. */
const SHORT = 500;

function isShort(field: DescField): boolean {
  return sizeLimits(field.parent).some(
    (limit) => limit.field === field && limit.limit <= SHORT && field.fieldKind === "scalar",
  );
}

function stepsOf(schema: DescMessage, known: Map<DescMessage, readonly Step[]>): readonly Step[] {
  const found = known.get(schema);
  if (found !== undefined) return found;
  const steps: Step[] = [];
  known.set(schema, steps);
  for (const field of schema.fields.filter(areItemsJudged)) {
    const screen = screenOf(field);
    if (screen !== undefined) steps.push({ field, screen });
    else if (field.message !== undefined && holdsScreened(field)) {
      steps.push({ field, below: stepsOf(field.message, known) });
    }
  }
  return steps;
}

function screenOf(field: DescField): ScreenText | undefined {
  const kind = kinds.get(screenedAsOf(field));
  if (kind === undefined && !isScreened(field)) return undefined;
  if (field.scalar !== ScalarType.STRING)
    throw new Error(`${field.toString()} is marked for screening, but is not a text`);
  return kind === undefined ? screenText : (text) => screenShortText(text, kind);
}

/** Returns the codes that screening can report for a field. Returns no codes if the field is not screened. */
export function screeningCodesOf(field: DescField): readonly ScreeningCode[] {
  const kind = kinds.get(screenedAsOf(field));
  if (kind !== undefined) return codesOfKind(kind);
  return isScreened(field) ? recognizers.map(([code]) => code) : [];
}

/**
 * Whether a field is screened, or is a message that contains screened texts. Skips lists whose items the operation
 * itself validates ({@link areItemsJudged}). `seen` stops the recursion at recursive messages.
 */
function holdsScreened(field: DescField, seen: readonly DescMessage[] = []): boolean {
  if (screenOf(field) !== undefined) return true;
  const { message } = field;
  if (message === undefined || seen.includes(message)) return false;
  return message.fields.filter(areItemsJudged).some((each) => holdsScreened(each, [...seen, message]));
}

function screenBelow(steps: readonly Step[], message: ReflectMessage, place: Path): ScreeningFinding[] {
  const findings: ScreeningFinding[] = [];
  for (const step of steps) {
    for (const [path, value] of valuesOf(message, step.field)) {
      const at = [...place, ...path];
      if ("screen" in step) {
        for (const code of step.screen(String(value))) findings.push({ path: at, code, message: messages[code] });
      } else if (isReflectMessage(value)) findings.push(...screenBelow(step.below, value, at));
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
