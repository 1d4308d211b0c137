import { type DescField, type DescMessage, getOption, type MessageShape, ScalarType } from "@bufbuild/protobuf";
import {
  isReflectList,
  isReflectMap,
  isReflectMessage,
  type Path,
  type ReflectMessage,
  reflect,
} from "@bufbuild/protobuf/reflect";
import { screened } from "../../gen/cupo/options/v1/options_pb.js";
import { type ScreeningCode, screenText } from "../../screening/screen-text.js";

/** Something that a text of a message must not hold, and where that text stands. The message repeats none of it. */
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

/** The fields of a message to look into: its screened texts, and the messages that hold some. */
const plans = new WeakMap<DescMessage, readonly DescField[]>();

/**
 * Screens the texts of a message that are marked `(cupo.options.v1.screened)`, at any depth: what each holds that it
 * must not hold. Throws where the mark stands on a field that is no text.
 */
export function screenMessage<D extends DescMessage>(schema: D, message: MessageShape<D>): ScreeningFinding[] {
  return isScreened(schema) ? screenBelow(reflect(schema, message), []) : [];
}

/** Whether a message has texts to be screened, at any depth. */
export function isScreened(schema: DescMessage): boolean {
  return planFor(schema).length > 0;
}

function planFor(schema: DescMessage): readonly DescField[] {
  const known = plans.get(schema);
  if (known !== undefined) return known;
  const plan = schema.fields.filter((field) => holdsScreened(field));
  plans.set(schema, plan);
  return plan;
}

/** `seen` ends the way where messages hold themselves. */
function holdsScreened(field: DescField, seen: readonly DescMessage[] = []): boolean {
  if (getOption(field, screened)) {
    if (field.scalar !== ScalarType.STRING) throw new Error(`${field.toString()} is screened, but is no text`);
    return true;
  }
  const { message } = field;
  if (message === undefined || seen.includes(message)) return false;
  return message.fields.some((each) => holdsScreened(each, [...seen, message]));
}

function screenBelow(message: ReflectMessage, place: Path): ScreeningFinding[] {
  return planFor(message.desc).flatMap((field) =>
    valuesOf(message, field).flatMap(([steps, value]) => {
      const path = [...place, ...steps];
      if (isReflectMessage(value)) return screenBelow(value, path);
      return screenText(String(value)).map((code) => ({ path, code, message: messages[code] }));
    }),
  );
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
