import { principalOf } from "../call.js";
import { insufficientScope } from "../errors.js";
import { operationOf } from "../operation.js";
import type { Stage } from "./stage.js";

/**
 * Throws 403 if the access token lacks the scope that the proto states for the RPC (specification section 5, rule 4;
 * RFC 6750 section 3.1).
 */
export function authorization(): Stage {
  return (method) => {
    const { scope } = operationOf(method);
    return (next) => (request) => {
      if (principalOf(request.contextValues).scopes.has(scope)) return next(request);
      throw insufficientScope(scope);
    };
  };
}
