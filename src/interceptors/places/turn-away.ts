import { setTimeout as delay } from "node:timers/promises";
import { CupoError, overloaded } from "../../errors.js";
import type { NoPlace, TurnAway } from "../calls-at-work.js";

/** What turning calls away needs; the real thing unless given. */
export interface TurnAwayPorts {
  readonly pause?: (ms: number) => Promise<unknown>;
  /** From 0 to below 1. */
  readonly random?: () => number;
}

/** To refuse a call takes a fifth to a third of what it takes to do one: 100 refusals in a second leave nearly all of a process to work. */
const PACE_MS = 10;
const MAX_PAUSE_MS = 1_000;
const MAX_RETRY_SECONDS = 3;

/**
 * Turns calls away, each ten milliseconds behind the one before it, and none later than in a second. Callers who ask again as soon as
 * they are answered would have the process refuse and do little else: in line they cost it a timer each. When to try again is told by
 * chance, so that those who were refused together do not come back together.
 */
export function createTurnAway({ pause = delay, random = Math.random }: TurnAwayPorts = {}): TurnAway {
  let inLine = 0;
  return async (why) => {
    inLine += 1;
    await pause(Math.min(inLine * PACE_MS, MAX_PAUSE_MS));
    inLine -= 1;
    return errorFor(why, 1 + Math.floor(random() * MAX_RETRY_SECONDS));
  };
}

function errorFor(why: NoPlace, retryAfterSeconds: number): CupoError {
  if (why === "OVERLOAD") return overloaded(retryAfterSeconds);
  return new CupoError("RATE_LIMIT_EXCEEDED", {
    detail: "More requests are being worked on for this client or tenant than may be at once.",
    headers: { "Retry-After": "1" },
    limit: "calls",
  });
}
