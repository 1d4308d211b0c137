import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { listViolations } from "@cupo/connect-rest";
import type { FieldError } from "../../../src/errors.js";
import { messageValidatorOf } from "../../../src/interceptors/validation/validate-message.js";

/**
 * Creates the service's validator. It sorts and limits the violations as an answer does. Each message type is compiled
 * once.
 */
export function createListedValidator(): (schema: DescMessage, message: MessageShape<DescMessage>) => FieldError[] {
  const validate = messageValidatorOf;
  const compiled = new Map<DescMessage, ReturnType<typeof validate>>();
  return (schema, message) => {
    const judge = compiled.get(schema) ?? validate(schema);
    compiled.set(schema, judge);
    return listViolations(schema, judge(message));
  };
}
