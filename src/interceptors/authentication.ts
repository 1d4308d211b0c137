import { type Call, callOf, type Principal } from "../call.js";
import { operationName } from "../operation.js";
import type { Stage } from "./stage.js";

/**
 * Verifies an Authorization header and returns its principal. The argument is null if the request has no such header.
 * Rejects with INVALID_ACCESS_TOKEN and the reason, or with SERVICE_UNAVAILABLE if the issuer's keys are not available.
 */
export type TokenVerifier = (authorization: string | null) => Promise<Principal>;

/**
 * Sets the operation of a call. Verifies its access token, and sets the principal of the call (specification section
 * 5). Rejects the call if the token is missing or not valid.
 */
export function authentication(verify: TokenVerifier): Stage {
  return (method) => {
    const operation = operationName(method);
    return (next) => async (request) => {
      const call = callOf(request.contextValues);
      call.operation = operation;
      call.principal = await verifyCaller(call, verify);
      return next(request);
    };
  };
}

/**
 * Verifies the access token of a call at this moment and returns its principal. Rejects a call with several
 * Authorization headers.
 */
export function verifyCaller({ headers: { authorization } }: Call, verify: TokenVerifier): Promise<Principal> {
  return verify(authorization.length === 0 ? null : authorization.join(", "));
}
