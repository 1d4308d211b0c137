import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { createMessageValidator } from "../../../src/interceptors/validation/validate-message.js";
import { listViolations } from "../../../src/rest/violations/list-violations.js";
import type { Violation } from "../../../src/rest/violations/violation.js";

/** The validator of the service, whose items are put in order and cut as an answer lists them. */
export function createListedValidator(): (schema: DescMessage, message: MessageShape<DescMessage>) => Violation[] {
  const validate = createMessageValidator();
  return (schema, message) => listViolations(schema, validate(schema, message));
}
