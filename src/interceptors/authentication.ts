import type { Interceptor } from "@connectrpc/connect";
import { type Call, callOf, type Principal } from "../call.js";
import { operationName } from "../operation.js";

/** Judges an Authorization header (null where there is none); throws INVALID_ACCESS_TOKEN with what is wrong. */
export type TokenVerifier = (authorization: string | null) => Promise<Principal>;

/** Names the principal of a call by its access token (specification section 5). */
export function authentication(verify: TokenVerifier): Interceptor {
  return (next) => async (request) => {
    const call = callOf(request.contextValues);
    call.operation = operationName(request.method);
    call.principal = await verifyCaller(call, verify);
    return next(request);
  };
}

/** The principal whom the access token of a call names at this moment. Several Authorization headers are an invalid one. */
export function verifyCaller({ headers: { authorization } }: Call, verify: TokenVerifier): Promise<Principal> {
  return verify(authorization.length === 0 ? null : authorization.join(", "));
}
