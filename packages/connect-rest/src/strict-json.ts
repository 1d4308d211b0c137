export { createUnaryInvoke, type InvocationInit, type Invoked, type ResponseMetadata } from "./invoke.js";
export { type Fields, fieldsOf, heldValue, setField } from "./json/message-fields.js";
export { createMessageReader, type ReadRules } from "./json/read-message.js";
export { readString } from "./json/strict/read-scalar.js";
export { createMessageWriter, type WriteMessage } from "./json/write-message.js";
export { parseJsonBody } from "./read-json-body.js";
export { addViolation, noViolations, type Violations } from "./violations/collect-violations.js";
export { type FieldPath, fieldStep, indexStep, keyStep } from "./violations/field-path.js";
