import { formatInstant, instantMsOf } from "./local-clock.js";
import { secondsPerDay } from "./local-time.js";

const reliableMs = 24 * 60 * 60 * 1000;

/**
 * Until when an eligibility decision may be relied on, as UTC text: 24 hours after the evaluation or, where that is
 * earlier, the end of the contract's last local date; for a contract that had ended before, the evaluation itself.
 */
export function eligibilityValidUntil(evaluatedAtMs: number, contractValidTo: string): string {
  const contractEndMs = instantMsOf(contractValidTo, secondsPerDay);
  return formatInstant(Math.max(evaluatedAtMs, Math.min(evaluatedAtMs + reliableMs, contractEndMs)));
}
