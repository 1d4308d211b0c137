import { create, type DescMessage, type DescMethod, fromBinary, type Message } from "@bufbuild/protobuf";
import { fieldsOf } from "../rest/json/message-fields.js";
import { createMessageReader, type ReadRules } from "../rest/json/read-message.js";
import { parseJsonBody } from "../rest/read-json-body.js";
import { malformed } from "../rest/rest-error.js";
import { noViolations, type Violations } from "../rest/violations/collect-violations.js";
import { listViolations } from "../rest/violations/list-violations.js";
import type { Violation } from "../rest/violations/violation.js";
import { createMessageCheck } from "./check-message.js";

/** What decoding needs beside the method. */
export interface DecodingOptions extends Pick<ReadRules, "maxItems"> {
  /** How deep objects and arrays of JSON may nest. */
  readonly maxDepth: number;
  /** Judges a message in which not everything could be read, so that one answer can list everything that is wrong. */
  validate(schema: DescMessage, message: Message): readonly Violation[];
  /** The error for a message of this method of which these things are wrong, as an answer lists them. */
  refuse(method: DescMethod, violations: readonly Violation[]): unknown;
}

/** Makes the request message of a method from its bytes. */
export interface MessageDecoder {
  json(bytes: Buffer): Message;
  binary(bytes: Buffer): Message;
}

/**
 * Compiles the decoders of a method. JSON is read as a REST body is, see {@link createMessageReader}, that of a request with an
 * update mask (AIP-134) as that of a PATCH; the binary form as protobuf says, unknown fields left out, and then held to what JSON can say, see {@link createMessageCheck}. Both throw
 * MALFORMED for bytes that are no message at all, and what `refuse` makes of one that cannot be taken as it is.
 */
export function createMessageDecoder(method: DescMethod, options: DecodingOptions): MessageDecoder {
  const schema = method.input;
  const partial = schema.fields.some(({ name }) => name === "update_mask");
  const read = createMessageReader(schema, { maxItems: options.maxItems, partial });
  const check = createMessageCheck(schema);
  const judged = (message: Message, violations: Violations) => {
    if (violations.items.length === 0) return message;
    throw options.refuse(method, listViolations(schema, options.validate(schema, message), violations.items));
  };
  return {
    json(bytes) {
      const message = create(schema);
      const violations = noViolations();
      read(parseJsonBody(bytes, options.maxDepth), fieldsOf(message), undefined, violations);
      return judged(message, violations);
    },
    binary(bytes) {
      const message = parseBinary(schema, bytes);
      const violations = noViolations();
      check(message, violations);
      return judged(message, violations);
    },
  };
}

function parseBinary(schema: DescMessage, bytes: Buffer): Message {
  try {
    return fromBinary(schema, bytes, { readUnknownFields: false });
  } catch {
    throw malformed("The body is not a message of this operation in protobuf's binary form.");
  }
}
