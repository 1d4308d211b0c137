import type { QuotaPrincipal } from "../interceptors/rate-limit.js";
import type { QuotaPolicy } from "./quota-policies.js";

/** The number of requests that a process wants to take from a quota. */
export interface QuotaDemand {
  readonly policy: QuotaPolicy;
  readonly wanted: number;
}

/** The part of a quota that a process received. */
export interface QuotaShare {
  /** Requests that the process may allow without asking again, until the window ends; 0 if the quota is used up. */
  readonly granted: number;
  /** Requests of the quota that no process has taken yet. */
  readonly left: number;
  /** Milliseconds until the window ends and the quota is full again. */
  readonly endsInMs: number;
}

/** Stores how much of a principal's quotas the processes of the service have taken. */
export interface QuotaStore {
  /**
   * Takes the wanted number from each quota, or the rest if less is left. In each window, the shares of all processes
   * that use the store add up to at most the quota. Resolves to the shares in the order of the demands. Rejects,
   * without any share, if the store does not answer.
   */
  take(principal: QuotaPrincipal, demands: readonly QuotaDemand[]): Promise<readonly QuotaShare[]>;
}
