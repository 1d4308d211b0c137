import type { Interceptor } from "@connectrpc/connect";
import { principalOf } from "../call.js";
import { insufficientScope } from "../errors.js";
import { operationOf } from "../operation.js";

/** Requires the scope that the proto states for the RPC (specification section 5, rule 4; RFC 6750 section 3.1). */
export function authorization(): Interceptor {
  return (next) => async (request) => {
    const { scope } = operationOf(request.method);
    if (principalOf(request.contextValues).scopes.has(scope)) return next(request);
    throw insufficientScope(scope);
  };
}
