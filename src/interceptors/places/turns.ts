/**
 * Gives tenants that want the same thing equal turns: start-time fair queueing (Goyal, Vin and Cheng, 1996). The next turn of a tenant
 * is one behind its last, but never far behind what everybody has reached, so that no tenant saves turns up; one that has had none
 * for a round is put a turn ahead of those who come all the time, however many these are.
 */
export class Turns {
  #reached = 0;
  /** Oldest change first. */
  readonly #next = new Map<string, number>();

  /** The turn that a tenant would have now. Lower ones are sooner. */
  of(tenantId: string): number {
    return Math.max(this.#reached - 1, this.#next.get(tenantId) ?? Number.NEGATIVE_INFINITY);
  }

  /** Gives a tenant its turn, so that its next one is later. */
  give(tenantId: string): number {
    const turn = this.of(tenantId);
    this.#next.delete(tenantId);
    this.#next.set(tenantId, turn + 1);
    return turn;
  }

  /** A turn came. */
  reach(turn: number): void {
    this.#reached = Math.max(this.#reached, turn);
    for (const [tenantId, next] of this.#next) {
      if (next >= this.#reached) return;
      this.#next.delete(tenantId);
    }
  }

  /** A turn will not be used; where it was the tenant's last one, its next call has it. */
  takeBack(tenantId: string, turn: number): void {
    if (this.#next.get(tenantId) === turn + 1) this.#next.set(tenantId, turn);
  }
}
