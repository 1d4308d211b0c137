import { formatInstant, instantMsOf } from "./local-clock.js";
import { secondsPerDay } from "./local-time.js";

const reliableMs = 24 * 60 * 60 * 1000;

/**
 * Returns the end of the validity of an eligibility decision, as UTC text. A decision is valid for 24 hours after its
 * evaluation, but not beyond the contract's last local date. If the contract had ended before the evaluation, the
 * result is the time of the evaluation.
 */
export function eligibilityValidUntil(evaluatedAtMs: number, contractValidTo: string): string {
  const contractEndMs = instantMsOf(contractValidTo, secondsPerDay);
  return formatInstant(Math.max(evaluatedAtMs, Math.min(evaluatedAtMs + reliableMs, contractEndMs)));
}
