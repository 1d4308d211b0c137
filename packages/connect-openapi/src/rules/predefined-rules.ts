import {
  type DescExtension,
  type DescFile,
  type DescMessage,
  getExtension,
  getOption,
  hasExtension,
} from "@bufbuild/protobuf";
import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import { predefined as predefinedOption, type Rule } from "../gen/buf/validate/validate_pb.js";

/** A CEL expression of a predefined rule of protovalidate, and the value that the options of a field assign to it. */
export interface PredefinedRule {
  readonly rule: Rule;
  /**
   * The value that the options of the field assign to the rule: 100 for `string.(library.v1.max_words) = 100`. In the
   * CEL expression, this value has the name `rule`. `true` becomes 1. Undefined for bytes, lists and messages.
   */
  readonly value: string | number | undefined;
}

const extensionsByFile = new WeakMap<DescFile, readonly DescExtension[]>();

/**
 * Returns the predefined rules among the rules of a field, with one item for each CEL expression of such a rule.
 * Predefined rules are extensions of protovalidate's messages. Finds only rules that are declared in `file` or in its
 * direct and indirect imports. Omits rules with the value false.
 */
export function predefinedRules({ message }: ReflectMessage, file: DescFile): PredefinedRule[] {
  return extensionsKnownTo(file)
    .filter((extension) => extension.extendee.typeName === message.$typeName && hasExtension(message, extension))
    .flatMap((extension) => {
      const set: unknown = getExtension(message, extension);
      return set === false
        ? []
        : getOption(extension, predefinedOption).cel.map((rule) => ({ rule, value: plainValue(set) }));
    });
}

function extensionsKnownTo(file: DescFile): readonly DescExtension[] {
  const known = extensionsByFile.get(file);
  if (known !== undefined) return known;
  const files = new Set([file]);
  for (const each of files) for (const dependency of each.dependencies) files.add(dependency);
  const all = [...files].flatMap(({ extensions, messages }) => extensions.concat(messages.flatMap(nestedIn)));
  const ofRules = all.filter(({ extendee }) => extendee.typeName.startsWith("buf.validate."));
  extensionsByFile.set(file, ofRules);
  return ofRules;
}

function nestedIn({ nestedExtensions, nestedMessages }: DescMessage): DescExtension[] {
  return [...nestedExtensions, ...nestedMessages.flatMap(nestedIn)];
}

function plainValue(value: unknown): string | number | undefined {
  if (typeof value === "string") return value;
  return typeof value === "object" ? undefined : Number(value);
}
