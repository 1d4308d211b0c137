import { setTimeout as delay } from "node:timers/promises";
import type { PaceRejection } from "../concurrency-limit.js";
import { rejectionError } from "./rejection-error.js";

/** The timer and the source of random numbers. Tests replace them. */
export interface RejectionPacingPorts {
  readonly pause?: (ms: number) => Promise<unknown>;
  /** Returns a number from 0 to below 1. */
  readonly random?: () => number;
}

/**
 * The pause between two rejections, in milliseconds. A rejection takes a fifth to a third of the work of a call. So 100
 * rejections per second leave nearly the whole process to running calls.
 */
const PACE_MS = 10;
const MAX_PAUSE_MS = 1_000;
const MAX_RETRY_SECONDS = 3;

/**
 * Creates a function that returns the error of a rejection after a delay. The delay is 10 ms for each rejection that
 * waits, including the new one, but at most 1 s. Without the delay, callers that retry without a pause would keep the
 * process busy with rejections. A waiting rejection costs only one timer.
 *
 * Retry-After is random, from 1 to 3 s, so that callers rejected together do not retry together.
 */
export function createRejectionPacing({
  pause = delay,
  random = Math.random,
}: RejectionPacingPorts = {}): PaceRejection {
  let pending = 0;
  return async (rejection, what = "calls") => {
    pending += 1;
    await pause(Math.min(pending * PACE_MS, MAX_PAUSE_MS));
    pending -= 1;
    return rejectionError(rejection, what, 1 + Math.floor(random() * MAX_RETRY_SECONDS));
  };
}
