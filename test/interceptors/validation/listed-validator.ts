import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { createMessageValidator } from "../../../src/interceptors/validation/validate-message.js";
import { listViolations } from "../../../src/rest/violations/list-violations.js";
import type { Violation } from "../../../src/rest/violations/violation.js";

/** Creates the service's validator. It sorts and limits the violations as an answer does. */
export function createListedValidator(): (schema: DescMessage, message: MessageShape<DescMessage>) => Violation[] {
  const validate = createMessageValidator();
  return (schema, message) => listViolations(schema, validate(schema, message));
}
