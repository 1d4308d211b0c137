import type { DescField, DescMessage } from "@bufbuild/protobuf";
import type { ReflectList, ReflectMessage } from "@bufbuild/protobuf/reflect";
import type { FieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { areUuids, fieldRulesOf } from "../../proto-options.js";

/** Changes a message in place. */
type Change = (message: ReflectMessage) => void;

/**
 * Compiles the changes that write ids in lower case. In the message, these ids are the fields for which `isId` returns
 * true. In nested messages, they are the fields for which {@link isUuid} returns true. If a nested message contains
 * itself, its inner levels are not changed.
 */
export function lowerCaseIds(
  { fields }: DescMessage,
  isId: (field: DescField) => boolean,
  within: ReadonlySet<DescMessage> = new Set(),
): readonly Change[] {
  return fields.flatMap((field): Change[] => {
    if (isId(field)) return [(message) => lowerCase(message, field)];
    const nested = messageOf(field);
    if (nested === undefined || within.has(nested)) return [];
    const changes = lowerCaseIds(nested, isUuid, new Set([...within, nested]));
    return changes.length === 0 ? [] : [(message) => changeEach(message, field, changes)];
  });
}

/** Whether the rules of a field say that it is a UUID or a list of UUIDs. */
export function isUuid(field: DescField): boolean {
  const rules = fieldRulesOf(field);
  if (rules.type.case !== "repeated") return hasUuidRule(rules);
  const { value } = rules.type;
  return areUuids(value) || (value.items !== undefined && hasUuidRule(value.items));
}

function hasUuidRule({ type }: FieldRules): boolean {
  return type.case === "string" && type.value.wellKnown.case === "uuid" && type.value.wellKnown.value;
}

/** Returns the type of a field that is a message or a list of messages. */
function messageOf(field: DescField): DescMessage | undefined {
  return field.fieldKind === "message" || field.fieldKind === "list" ? field.message : undefined;
}

function lowerCase(message: ReflectMessage, field: DescField): void {
  if (!message.isSet(field)) return;
  if (field.fieldKind === "list") {
    const list: ReflectList = message.get(field);
    for (let i = 0; i < list.size; i++) list.set(i, String(list.get(i)).toLowerCase());
  } else {
    const value: unknown = message.get(field);
    message.set(field, String(value).toLowerCase());
  }
}

function changeEach(message: ReflectMessage, field: DescField, changes: readonly Change[]): void {
  if (!message.isSet(field)) return;
  const nested = field.fieldKind === "list" ? [...message.get(field)] : [message.get(field)];
  for (const each of nested) for (const change of changes) change(each as ReflectMessage);
}
