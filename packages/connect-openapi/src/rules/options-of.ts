import { type DescField, type DescMessage, getOption } from "@bufbuild/protobuf";
import { field as fieldRules, message as messageRules } from "../gen/buf/validate/validate_pb.js";
import { field_behavior as fieldBehavior } from "../gen/google/api/field_behavior_pb.js";

/** Returns the protovalidate rules of a field. The result is cached. */
export const fieldRulesOf = decodedOnce((field: DescField) => getOption(field, fieldRules));
/** Returns the protovalidate rules of a message. The result is cached. */
export const messageRulesOf = decodedOnce((message: DescMessage) => getOption(message, messageRules));
/** Returns the option `google.api.field_behavior` of a field. The result is cached. */
export const fieldBehaviorOf = decodedOnce((field: DescField) => getOption(field, fieldBehavior));

/**
 * Returns a function that calls `decode` once for each key and caches the result. Without the cache, every schema that
 * needs an option would parse it again.
 */
function decodedOnce<K extends object, V extends object>(decode: (key: K) => V): (key: K) => V {
  const decoded = new WeakMap<K, V>();
  return (key) => {
    const value = decoded.get(key) ?? decode(key);
    decoded.set(key, value);
    return value;
  };
}
