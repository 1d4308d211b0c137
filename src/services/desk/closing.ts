import type { ReadyCall } from "../../call.js";
import { type CupoError, conflict } from "../../errors.js";
import type { Closure } from "../../postgres/tables/desk/closures.js";

/** The closure by this call. */
export function closureNow(call: ReadyCall, reason: string, nowMs: number): Closure {
  return {
    closedAt: new Date(nowMs),
    closedBy: call.principal.id,
    closedByActor: call.actor,
    closeReason: reason,
  };
}

/** 409 for what is not as the step needs it. */
export function stateNotAllowed(field: string, message: string): CupoError {
  return conflict({ code: "STATE_NOT_ALLOWED", field, message });
}
