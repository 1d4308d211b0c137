import type { DescMessage, DescMethod, Message, MessageShape } from "@bufbuild/protobuf";
import { type CupoError, type FieldError, invalidRequest, validationFailed } from "../../errors.js";
import { pathFields } from "../../operation.js";
import type { Stage } from "../stage.js";
import { createNormalizer } from "./normalize-request.js";

/**
 * Compiles a function that validates messages by the rules in their proto. The function returns the errors of a
 * message, in any order of fields.
 */
export type MessageValidator = <D extends DescMessage>(
  schema: D,
) => (message: MessageShape<D>) => readonly FieldError[];

/**
 * Sorts the errors of a message in the order of its fields, and keeps only as many as an answer may list. If it drops
 * errors, it adds a MORE_ERRORS item.
 */
export type ListErrors = (schema: DescMessage, errors: readonly FieldError[]) => readonly FieldError[];

/**
 * Validates a request by the rules of the proto. Then normalizes it ({@link createNormalizer}), so that equal requests
 * have one form for RPC services and for idempotency fingerprints. Throws the error of {@link invalidMessage} for an
 * invalid request.
 */
export function validation(validatorOf: MessageValidator, listErrors: ListErrors): Stage {
  return (method) => {
    const validate = validatorOf(method.input);
    const normalize = createNormalizer(method);
    const invalid = invalidMessage(method, listErrors);
    const judge = (message: Message) => {
      const errors = validate(message);
      const broken = new Set(errors.map(({ field }) => field));
      const all = [...errors, ...normalize(message).filter(({ field }) => !broken.has(field))];
      if (all.length > 0) throw invalid(all);
    };
    if (method.methodKind === "unary") {
      return (next) => (request) => {
        if (!request.stream) judge(request.message);
        return next(request);
      };
    }
    return (next) => async (request) => {
      if (request.stream) for await (const message of request.message) judge(message);
      return next(request);
    };
  };
}

/**
 * Compiles a function that returns the error for an invalid message. If a path field is invalid, the error is a 400
 * with the items of path fields, because the address is wrong. Otherwise it is a 422 with all items.
 */
export function invalidMessage(
  method: DescMethod,
  listErrors: ListErrors,
): (errors: readonly FieldError[]) => CupoError {
  const names = pathFields(method);
  const inPath = new Set(method.input.fields.filter(({ name }) => names.has(name)).map(({ jsonName }) => jsonName));
  return (errors) => {
    const ofPath = errors.filter(({ field }) => inPath.has(field));
    return ofPath.length > 0
      ? invalidRequest(listErrors(method.input, ofPath))
      : validationFailed(listErrors(method.input, errors));
  };
}
