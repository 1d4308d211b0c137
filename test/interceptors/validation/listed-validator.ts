import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { listViolations } from "@cupo/connect-rest";
import type { FieldError } from "../../../src/errors.js";
import { createMessageValidator } from "../../../src/interceptors/validation/validate-message.js";

/** Creates the service's validator. It sorts and limits the violations as an answer does. */
export function createListedValidator(): (schema: DescMessage, message: MessageShape<DescMessage>) => FieldError[] {
  const validate = createMessageValidator();
  return (schema, message) => listViolations(schema, validate(schema)(message));
}
