import type { Interceptor } from "@connectrpc/connect";
import { callOf, type Principal } from "../call.js";
import { operationName } from "../operation.js";

/** Judges an Authorization header (null where there is none); throws INVALID_ACCESS_TOKEN with what is wrong. */
export type TokenVerifier = (authorization: string | null) => Promise<Principal>;

/** Names the principal of a call by its access token (specification section 5). Several headers are an invalid one. */
export function authentication(verify: TokenVerifier): Interceptor {
  return (next) => async (request) => {
    const call = callOf(request.contextValues);
    call.operation = operationName(request.method);
    const { authorization } = call.headers;
    call.principal = await verify(authorization.length === 0 ? null : authorization.join(", "));
    return next(request);
  };
}
