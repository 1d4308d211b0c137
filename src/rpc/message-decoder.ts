import {
  create,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type Message,
  type MessageShape,
} from "@bufbuild/protobuf";
import { listViolations, malformed, type Violation } from "@cupo/connect-rest";
import {
  createMessageReader,
  fieldsOf,
  noViolations,
  parseJsonBody,
  type ReadRules,
  type Violations,
} from "@cupo/connect-rest/strict-json";
import { createMessageCheck } from "./check-message.js";

/** Options for decoding the request messages of a method. */
export interface DecodingOptions extends Pick<ReadRules, "maxItems"> {
  /** Maximum nesting depth of JSON objects and arrays. */
  readonly maxDepth: number;
  /**
   * Returns a function that checks a message against its validation rules and returns the violations. It is called only
   * for a message in which decoding has found violations, so that one error lists all of them. An interceptor validates
   * every other message later.
   */
  validate<D extends DescMessage>(schema: D): (message: MessageShape<D>) => readonly Violation[];
  /**
   * Returns a function that creates the error for a message with violations. The error lists the violations in the
   * given order.
   */
  refuse(method: DescMethod): (violations: readonly Violation[]) => unknown;
}

/**
 * Decodes the request message of a method from its bytes. Throws MALFORMED for bytes that are not a message, and the
 * error of `refuse` for a message with violations.
 */
export interface MessageDecoder {
  json(bytes: Buffer): Message;
  binary(bytes: Buffer): Message;
}

/**
 * Compiles the decoders of a method.
 *
 * JSON is read like a REST body, see {@link createMessageReader}. If the request has a field `update_mask` (AIP-134),
 * required lists and maps may be absent. The binary form is decoded without unknown fields. It is then checked for
 * values that the reader of JSON rejects, see {@link createMessageCheck}.
 */
export function createMessageDecoder(method: DescMethod, options: DecodingOptions): MessageDecoder {
  const schema = method.input;
  const partial = schema.fields.some(({ name }) => name === "update_mask");
  const read = createMessageReader(schema, { maxItems: options.maxItems, partial });
  const check = createMessageCheck(schema);
  const validate = options.validate(schema);
  const refuse = options.refuse(method);
  const judged = (message: Message, violations: Violations) => {
    if (violations.items.length === 0) return message;
    throw refuse(listViolations(schema, validate(message), violations.items));
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
    throw malformed("The body is not a protobuf binary message of this operation's request type.");
  }
}
