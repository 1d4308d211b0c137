import type { ReadyCall } from "../../call.js";
import { onTrial } from "../../postgres/tables/trial.js";

/**
 * Runs the work of a call and returns its result. If `validateOnly` is true, then undoes all changes and effects of the
 * work (AIP-163). The result and the errors are the same in both cases.
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
