/**
 * Shares a resource equally between tenants: start-time fair queueing (Goyal, Vin and Cheng, 1996).
 * The bulk calls of a tenant count as the calls of another tenant.
 *
 * Each call gets a start tag, and calls with lower tags run first. The virtual time is the highest start tag of a call
 * that has begun to run. A new tag is one more than the previous tag of the same tenant, but at least the virtual time
 * minus one. So only the first call of an idle tenant runs before all waiting calls of busy tenants.
 */
export class FairQueue {
  #virtualTime = 0;
  /**
   * For each tenant with recent calls, the lowest start tag that its next call can get. {@link startTagOf} may return a
   * higher one. The tenant that was assigned a tag longest ago comes first.
   */
  readonly #nextTags = new Map<string, number>();

  /** Returns the start tag (see {@link FairQueue}) that a call of this tenant would get now. Lower tags run first. */
  startTagOf(tenantId: string): number {
    return Math.max(this.#virtualTime - 1, this.#nextTags.get(tenantId) ?? Number.NEGATIVE_INFINITY);
  }

  /** Assigns a start tag to a new call of the tenant and returns the tag. */
  assign(tenantId: string): number {
    const startTag = this.startTagOf(tenantId);
    this.#nextTags.delete(tenantId);
    this.#nextTags.set(tenantId, startTag + 1);
    return startTag;
  }

  /**
   * Advances the virtual time to the start tag of a call that begins to run. Then removes tenants from the beginning of
   * `#nextTags`, up to the first tenant whose next tag is at or above the virtual time. {@link startTagOf} returns the
   * same tags for the removed tenants as before.
   */
  advance(startTag: number): void {
    this.#virtualTime = Math.max(this.#virtualTime, startTag);
    for (const [idle, next] of this.#nextTags) {
      if (next >= this.#virtualTime) return;
      this.#nextTags.delete(idle);
    }
  }

  /**
   * Takes back an unused start tag. If it was the newest tag of the tenant, the tenant's next call can get it again.
   */
  revoke(tenantId: string, startTag: number): void {
    if (this.#nextTags.get(tenantId) === startTag + 1) this.#nextTags.set(tenantId, startTag);
  }
}
