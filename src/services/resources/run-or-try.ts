import type { ReadyCall } from "../../call.js";
import { onTrial } from "../../postgres/tables/trial.js";

/**
 * Does the work of a call. With `validateOnly` it takes all changes and effects back, so that the result and the errors
 * are those of the call, and nothing has changed (AIP-163).
 */
export async function runOrTry<T>(
  call: ReadyCall,
  validateOnly: boolean | undefined,
  work: () => Promise<T>,
): Promise<T> {
  if (validateOnly !== true) return work();
  const result = await onTrial(call.transaction, work);
  call.effects.length = 0;
  return result;
}
