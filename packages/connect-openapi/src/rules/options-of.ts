import { type DescField, type DescMessage, getOption } from "@bufbuild/protobuf";
import { field as fieldRules, message as messageRules } from "../gen/buf/validate/validate_pb.js";
import { field_behavior as fieldBehavior } from "../gen/google/api/field_behavior_pb.js";

/** The protovalidate rules of a field. */
export const fieldRulesOf = decodedOnce((field: DescField) => getOption(field, fieldRules));
/** The protovalidate rules of a message. */
export const messageRulesOf = decodedOnce((message: DescMessage) => getOption(message, messageRules));
/** `google.api.field_behavior` of a field. */
export const fieldBehaviorOf = decodedOnce((field: DescField) => getOption(field, fieldBehavior));

/**
 * Returns `decode` with a cache, because each decoding parses the option again. Schemas of requests, responses and
 * several documents ask for the same options.
 */
function decodedOnce<K extends object, V extends object>(decode: (key: K) => V): (key: K) => V {
  const decoded = new WeakMap<K, V>();
  return (key) => {
    const value = decoded.get(key) ?? decode(key);
    decoded.set(key, value);
    return value;
  };
}
