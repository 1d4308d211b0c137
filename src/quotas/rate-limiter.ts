import type { QuotaPrincipal, QuotaState, RateLimiter } from "../interceptors/rate-limit.js";
import { type CallCost, costIn, type QuotaPolicy, quotaPolicies, type RateQuotas, stateOf } from "./quota-policies.js";
import type { QuotaDemand, QuotaShare, QuotaStore } from "./quota-store.js";

/** Dependencies of {@link createRateLimiter}. */
export interface SharedQuotaPorts {
  readonly store: QuotaStore;
  /** Number of processes that share the quotas. */
  readonly replicas: number;
  /** Called with the error when the store stops answering. */
  readonly onAway?: (error: unknown) => void;
  /** Called when the store answers again. */
  readonly onBack?: () => void;
  /** Returns monotonic milliseconds; default `performance.now()`. */
  readonly elapsed?: () => number;
}

/** The part of a principal's quota that this process holds in the current window. */
interface Holding {
  readonly policy: QuotaPolicy;
  /** Requests that this process may allow without asking the store. */
  held: number;
  /**
   * The number of requests that the store can still grant in this window:
   * - Before the store's first answer in this window: the whole quota.
   * - After an answer: the number in the last answer.
   * - If the store does not answer, after this process has granted itself a part of the quota: 0.
   */
  left: number;
  endsAt: number;
}

interface Account {
  readonly second: Holding;
  readonly minute: Holding;
  /** The running request to the store; undefined if there is none. */
  asking: Promise<void> | undefined;
}

/**
 * A process asks the store for 1 / (PARTS × number of processes) of the requests that are left in a quota, or for more
 * if a call needs more.
 */
const PARTS = 4;
/** If the store does not answer, a process waits this many milliseconds before it asks the store again. */
const AWAY_MS = 5_000;

/**
 * Creates a rate limiter whose quotas are shared by several processes. Each process takes parts of a quota from the
 * store and allows requests from these parts. So most requests do not wait for the store. When a quota is used up,
 * requests are rejected until the window ends.
 *
 * While the store answers, all processes together never allow more than the quota in a window. While it does not
 * answer, each process grants itself one more part of the quota in each window, see {@link createLender}.
 */
export function createRateLimiter(quotas: RateQuotas, ports: SharedQuotaPorts): RateLimiter {
  const elapsed = ports.elapsed ?? (() => performance.now());
  const policies = quotaPolicies(quotas);
  const accounts = new Map<string, Account>();
  const lend = createLender(ports, elapsed);
  const ask = async (principal: QuotaPrincipal, account: Account, cost: CallCost) => {
    const askedAt = elapsed();
    const due = [account.second, account.minute].filter((holding) => isShort(holding, cost));
    const shares = await lend(principal, due, cost);
    for (const [index, holding] of due.entries()) credit(holding, shares[index], askedAt, elapsed());
  };
  return {
    async count(principal, requests = 1, counted = 0) {
      const cost = { requests, counted };
      const account = accountOf(principal, accounts, policies, elapsed());
      for (;;) {
        renew(account, elapsed());
        if (!needsMore(account, cost)) return countIn(account, cost, elapsed());
        account.asking ??= ask(principal, account, cost).finally(() => {
          account.asking = undefined;
        });
        await account.asking;
      }
    },
  };
}

/**
 * Returns a function that asks the store for shares. While the store does not answer, each {@link Holding} gets this
 * share: its `left` divided by `replicas`, but at least one request.
 */
function createLender({ store, replicas, onAway, onBack }: SharedQuotaPorts, elapsed: () => number) {
  let awayUntil: number | undefined;
  const partOf = ({ left, endsAt }: Holding): QuotaShare => ({
    granted: Math.max(1, Math.floor(left / replicas)),
    left: 0,
    endsInMs: endsAt - elapsed(),
  });
  return async (principal: QuotaPrincipal, due: readonly Holding[], cost: CallCost) => {
    if (awayUntil !== undefined && elapsed() < awayUntil) return due.map(partOf);
    const demands = due.map((holding) => demandOf(holding, cost, replicas));
    try {
      const shares = await store.take(principal, demands);
      if (awayUntil !== undefined) onBack?.();
      awayUntil = undefined;
      return shares;
    } catch (error) {
      if (awayUntil === undefined) onAway?.(error);
      awayUntil = elapsed() + AWAY_MS;
      return due.map(partOf);
    }
  };
}

/**
 * Returns how many requests of a quota this process asks the store for. This is the larger of two numbers:
 * - `left`, the requests that the store can still grant, divided by ({@link PARTS} × `replicas`)
 * - the number of requests that are missing in `held` to allow this call
 */
function demandOf({ policy, held, left }: Holding, cost: CallCost, replicas: number): QuotaDemand {
  const missing = costIn(policy, cost) - held;
  return { policy, wanted: Math.max(missing, Math.floor(left / PARTS / replicas)) };
}

/**
 * Adds a share to the requests that this process may allow. The window ends `endsInMs` after `askedAt`, the time at
 * which the store was asked. If that time has passed, the window ends 1 ms from now.
 */
function credit(holding: Holding, share: QuotaShare | undefined, askedAt: number, now: number): void {
  if (share === undefined) throw new Error("the quota store must return a share for each demand");
  holding.held += share.granted;
  holding.left = share.left;
  holding.endsAt = Math.max(askedAt + share.endsInMs, now + 1);
}

/** Whether this process holds too few requests of the quota to allow `requests`, and the store may have more. */
function isShort({ policy, held, left }: Holding, cost: CallCost): boolean {
  return held < costIn(policy, cost) && left > 0;
}

function isUsedUp({ policy, held, left }: Holding, cost: CallCost): boolean {
  return held < costIn(policy, cost) && left === 0;
}

/** Whether the store must be asked before the requests can be allowed or rejected. */
function needsMore({ second, minute }: Account, cost: CallCost): boolean {
  const holdings = [second, minute];
  return !holdings.some((each) => isUsedUp(each, cost)) && holdings.some((each) => isShort(each, cost));
}

/**
 * Takes the cost of the requests from each quota. Takes nothing if one quota rejects them. Returns the states of both
 * quotas.
 */
function countIn({ second, minute }: Account, cost: CallCost, now: number): readonly QuotaState[] {
  const holdings = [second, minute];
  const isRefused = holdings.some((each) => isUsedUp(each, cost));
  return holdings.map((holding) => {
    const exceeded = isUsedUp(holding, cost);
    if (!isRefused) holding.held -= costIn(holding.policy, cost);
    const { policy, held, left, endsAt } = holding;
    return stateOf(policy, { remaining: held + left, endsInMs: endsAt - now, exceeded });
  });
}

function renew({ second, minute }: Account, now: number): void {
  for (const holding of [second, minute]) if (holding.endsAt <= now) Object.assign(holding, fresh(holding.policy, now));
}

function fresh(policy: QuotaPolicy, now: number): Holding {
  return { policy, held: 0, left: policy.quota, endsAt: now + policy.windowSeconds * 1_000 };
}

/** Returns the account of a principal. If there is none, adds one. */
function accountOf(
  { tenantId, id }: QuotaPrincipal,
  accounts: Map<string, Account>,
  { second, minute }: ReturnType<typeof quotaPolicies>,
  now: number,
): Account {
  const key = `${tenantId} ${id}`;
  const known = accounts.get(key);
  if (known !== undefined) return known;
  forgetIdle(accounts, now);
  const account = { second: fresh(second, now), minute: fresh(minute, now), asking: undefined };
  accounts.set(key, account);
  return account;
}

/**
 * Called for each new account. Checks the two oldest accounts: moves accounts in use to the end of the map and removes
 * idle ones. An account is idle if the window of its minute quota has ended and no request to the store is running for
 * it.
 */
function forgetIdle(accounts: Map<string, Account>, now: number): void {
  const oldest = accounts.entries();
  for (const { value } of [oldest.next(), oldest.next()]) {
    if (value === undefined) return;
    const [key, account] = value;
    accounts.delete(key);
    if (account.minute.endsAt > now || account.asking !== undefined) accounts.set(key, account);
  }
}
