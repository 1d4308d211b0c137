import type { QuotaPrincipal } from "../interceptors/rate-limit.js";
import type { QuotaPolicy } from "./quota-policies.js";

/** How much of a quota a process wants to let through by itself. */
export interface QuotaDemand {
  readonly policy: QuotaPolicy;
  readonly wanted: number;
}

/** What a process got of a quota. */
export interface QuotaShare {
  /** How many requests it may let through without asking again, until the window ends; 0 where the quota is used up. */
  readonly granted: number;
  /** What nobody has taken yet. */
  readonly left: number;
  /** Until the window ends, and the quota is there again. */
  readonly endsInMs: number;
}

/** Where the processes of a service keep what they have taken of a principal's quotas. */
export interface QuotaStore {
  /**
   * Takes from each quota what is wanted, or what there is. All processes together never get more than the quota in a window.
   * Gives the shares in the order of the demands. Rejects, with nothing promised, where the store does not answer.
   */
  take(principal: QuotaPrincipal, demands: readonly QuotaDemand[]): Promise<readonly QuotaShare[]>;
}
