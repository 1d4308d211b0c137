import { create, type DescMessage, type DescMethod, fromBinary, type Message } from "@bufbuild/protobuf";
import { createFindings, type Findings } from "../rest/findings.js";
import { fieldsOf } from "../rest/message-fields.js";
import { orderViolations } from "../rest/order-violations.js";
import { parseJsonBody } from "../rest/read-json-body.js";
import { createMessageReader } from "../rest/read-message.js";
import { malformed, type Violation } from "../rest/rest-error.js";
import { createMessageCheck } from "./check-message.js";

/** What decoding needs beside the method. */
export interface DecodingOptions {
  /** How deep objects and arrays of JSON may nest. */
  readonly maxDepth: number;
  /** Judges a message in which not everything could be read, so that one answer can list everything that is wrong. */
  validate(schema: DescMessage, message: Message): readonly Violation[];
  /** The error for a message of this method of which these things are wrong. */
  refuse(method: DescMethod, violations: readonly Violation[]): unknown;
}

/** Makes the request message of a method from its bytes. */
export interface MessageDecoder {
  json(bytes: Buffer): Message;
  binary(bytes: Buffer): Message;
}

/**
 * Compiles the decoders of a method. JSON is read as a REST body is, see {@link createMessageReader}; the binary form as
 * protobuf says, unknown fields left out, and then held to what JSON can say, see {@link createMessageCheck}. Both throw
 * MALFORMED for bytes that are no message at all, and what `refuse` makes of one that cannot be taken as it is.
 */
export function createMessageDecoder(method: DescMethod, options: DecodingOptions): MessageDecoder {
  const schema = method.input;
  const read = createMessageReader(schema);
  const check = createMessageCheck(schema);
  const judged = (message: Message, findings: Findings) => {
    if (findings.items.length === 0) return message;
    throw options.refuse(method, orderViolations(schema, findings.items, options.validate(schema, message)));
  };
  return {
    json(bytes) {
      const message = create(schema);
      const findings = createFindings();
      read(parseJsonBody(bytes, options.maxDepth), fieldsOf(message), undefined, findings);
      return judged(message, findings);
    },
    binary(bytes) {
      const message = parseBinary(schema, bytes);
      const findings = createFindings();
      check(message, findings);
      return judged(message, findings);
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
