import type { DescMessage, DescMethod, Message, MessageShape } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { type CupoError, type FieldError, invalidRequest, validationFailed } from "../../errors.js";
import { pathFields } from "../../operation.js";
import { normalizeRequest } from "./normalize-request.js";

/** Judges a message by the rules in its proto; one item for each broken rule, in any order of the fields. */
export type MessageValidator = <D extends DescMessage>(schema: D, message: MessageShape<D>) => readonly FieldError[];

/** Puts what is wrong with a message in the order of its fields, and cuts it to what one answer can list. */
export type ListErrors = (schema: DescMessage, errors: readonly FieldError[]) => readonly FieldError[];

/**
 * Holds a request to the rules of the proto, then brings it into the one form that fingerprints and services see. The request of
 * a stream is a list of one message, which can be walked as often as there are stages that look at it.
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
 * The error for a message that breaks rules: 400 where a field of the path does, because then the address is wrong and
 * not the body; 422 with every item otherwise.
 */
export function invalidMessage(method: DescMethod, errors: readonly FieldError[], listErrors: ListErrors): CupoError {
  const inPath = jsonNamesOfPathFields(method);
  const ofPath = errors.filter(({ field }) => inPath.has(field));
  return ofPath.length > 0
    ? invalidRequest("A parameter of the path cannot be used; see errors.", listErrors(method.input, ofPath))
    : validationFailed(listErrors(method.input, errors));
}

function jsonNamesOfPathFields(method: DescMethod): ReadonlySet<string> {
  const names = pathFields(method);
  return new Set(method.input.fields.filter(({ name }) => names.has(name)).map(({ jsonName }) => jsonName));
}
