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

/** A predefined rule that is set: a CEL expression and the value that it calls `rule`. */
export interface PredefinedRule {
  readonly rule: Rule;
  /** Undefined for a value that is neither text, number nor boolean. */
  readonly value: string | number | undefined;
}

const extensionsByFile = new WeakMap<DescFile, readonly DescExtension[]>();

/**
 * Returns the predefined rules that are set in the rules of a field: extensions of protovalidate's messages, declared in
 * `file` or in a file that it imports. A rule that is switched off is not set.
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
