import type { DescMessage, DescMethod, Message, MessageShape } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { type CupoError, type FieldError, invalidRequest, validationFailed } from "../../errors.js";
import { pathFields } from "../../operation.js";
import { normalizeRequest } from "./normalize-request.js";

/** Validates a message by the rules in its proto. Returns one item per broken rule, in any order of fields. */
export type MessageValidator = <D extends DescMessage>(schema: D, message: MessageShape<D>) => readonly FieldError[];

/** Sorts the errors of a message by its fields, and limits their number to what one answer may list. */
export type ListErrors = (schema: DescMessage, errors: readonly FieldError[]) => readonly FieldError[];

/**
 * Validates a request by the rules of the proto, then normalizes it for fingerprints and services. The request of a
 * stream is a list of one message, so several stages can iterate over it.
 */
export function validation(validate: MessageValidator, listErrors: ListErrors): Interceptor {
  return (next) => async (request) => {
    const judge = (message: Message) => {
      const errors = errorsOf(request.method, message, validate);
      if (errors.length > 0) throw invalidMessage(request.method, errors, listErrors);
    };
    if (!request.stream) judge(request.message);
    else for await (const message of request.message) judge(message);
    return next(request);
  };
}

function errorsOf(method: DescMethod, message: Message, validate: MessageValidator): readonly FieldError[] {
  const ofRules = validate(method.input, message);
  const broken = new Set(ofRules.map(({ field }) => field));
  return [...ofRules, ...normalizeRequest(method, message).filter(({ field }) => !broken.has(field))];
}

/**
 * Returns the error for an invalid message. It is 400 if a path field is invalid, because then the address is wrong.
 * Otherwise it is 422 with every item.
 */
export function invalidMessage(method: DescMethod, errors: readonly FieldError[], listErrors: ListErrors): CupoError {
  const inPath = jsonNamesOfPathFields(method);
  const ofPath = errors.filter(({ field }) => inPath.has(field));
  return ofPath.length > 0
    ? invalidRequest(listErrors(method.input, ofPath))
    : validationFailed(listErrors(method.input, errors));
}

function jsonNamesOfPathFields(method: DescMethod): ReadonlySet<string> {
  const names = pathFields(method);
  return new Set(method.input.fields.filter(({ name }) => names.has(name)).map(({ jsonName }) => jsonName));
}
