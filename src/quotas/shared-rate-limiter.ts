import type { QuotaPrincipal, QuotaState, RateLimiter } from "../interceptors/rate-limit.js";
import { costIn, type QuotaPolicy, quotaPolicies, type RateQuotas, stateOf } from "./quota-policies.js";
import type { QuotaDemand, QuotaShare, QuotaStore } from "./quota-store.js";

/** What quotas that processes share need. */
export interface SharedQuotaPorts {
  readonly store: QuotaStore;
  /** How many processes share the quotas. */
  readonly replicas: number;
  /** Told when the store stops answering, with why, and when it answers again. */
  readonly onAway: (error: unknown) => void;
  readonly onBack: () => void;
  /** Milliseconds that only ever go on; those of the process unless given. */
  readonly elapsed?: () => number;
}

/** What this process has of a quota of a principal, in the window at hand. */
interface Holding {
  readonly policy: QuotaPolicy;
  /** Requests that it may let through without asking. */
  held: number;
  /** What nobody had taken when it last asked. */
  left: number;
  endsAt: number;
}

interface Account {
  readonly second: Holding;
  readonly minute: Holding;
  /** The question to the store that is under way. */
  asking: Promise<void> | undefined;
}

/** A process asks for one of so many parts of what is left, for each of the processes. */
const PARTS = 4;
/** For how long a store that did not answer is not asked again. */
const AWAY_MS = 5_000;

/**
 * Counts quotas that several processes share. Each takes parts of a quota from the store and lets requests through against
 * them without asking, so that most requests wait for nothing; the parts become smaller with what is left, so that little is
 * held by a process that its principal has left. All processes together never let more through than the quota in a window.
 *
 * A quota that is used up is refused without asking until its window ends. While the store is away a process lets through its
 * part of what it knows to be left: the quotas are never open.
 */
export function createSharedRateLimiter(quotas: RateQuotas, ports: SharedQuotaPorts): RateLimiter {
  const elapsed = ports.elapsed ?? (() => performance.now());
  const policies = quotaPolicies(quotas);
  const accounts = new Map<string, Account>();
  const lend = createLender(ports, elapsed);
  const ask = async (principal: QuotaPrincipal, account: Account, requests: number) => {
    const askedAt = elapsed();
    const due = [account.second, account.minute].filter((holding) => isShort(holding, requests));
    const shares = await lend(principal, due, requests);
    for (const [index, holding] of due.entries()) credit(holding, shares[index], askedAt, elapsed());
  };
  return {
    async count(principal, requests = 1) {
      const account = accountOf(principal, accounts, policies, elapsed());
      for (;;) {
        renew(account, elapsed());
        if (!needsMore(account, requests)) return countIn(account, requests, elapsed());
        account.asking ??= ask(principal, account, requests).finally(() => {
          account.asking = undefined;
        });
        await account.asking;
      }
    },
  };
}

/** Asks the store or, while it is away, lends what is this process' part of the rest until the window ends. */
function createLender({ store, replicas, onAway, onBack }: SharedQuotaPorts, elapsed: () => number) {
  let awayUntil: number | undefined;
  const partOf = ({ left, endsAt }: Holding): QuotaShare => ({
    granted: Math.max(1, Math.floor(left / replicas)),
    left: 0,
    endsInMs: endsAt - elapsed(),
  });
  return async (principal: QuotaPrincipal, due: readonly Holding[], requests: number) => {
    if (awayUntil !== undefined && elapsed() < awayUntil) return due.map(partOf);
    const demands = due.map((holding) => demandOf(holding, requests, replicas));
    try {
      const shares = await store.take(principal, demands);
      if (awayUntil !== undefined) onBack();
      awayUntil = undefined;
      return shares;
    } catch (error) {
      if (awayUntil === undefined) onAway(error);
      awayUntil = elapsed() + AWAY_MS;
      return due.map(partOf);
    }
  };
}

/** A part of what is left, and no less than what is missing. */
function demandOf({ policy, held, left }: Holding, requests: number, replicas: number): QuotaDemand {
  const missing = costIn(policy, requests) - held;
  return { policy, wanted: Math.max(missing, Math.floor(left / PARTS / replicas)) };
}

/** Windows end here no later than in the store, but not before what was just granted can be used. */
function credit(holding: Holding, share: QuotaShare | undefined, askedAt: number, now: number): void {
  if (share === undefined) throw new Error("a store gives a share for each demand");
  holding.held += share.granted;
  holding.left = share.left;
  holding.endsAt = Math.max(askedAt + share.endsInMs, now + 1);
}

/** Whether there may be more for what this process has too little for. */
function isShort({ policy, held, left }: Holding, requests: number): boolean {
  return held < costIn(policy, requests) && left > 0;
}

function isUsedUp({ policy, held, left }: Holding, requests: number): boolean {
  return held < costIn(policy, requests) && left === 0;
}

/** Whether it takes an answer of the store to tell what becomes of requests. */
function needsMore({ second, minute }: Account, requests: number): boolean {
  const holdings = [second, minute];
  return !holdings.some((each) => isUsedUp(each, requests)) && holdings.some((each) => isShort(each, requests));
}

/** Each quota gives what the requests cost, but none does where one of them refuses. */
function countIn({ second, minute }: Account, requests: number, now: number): readonly QuotaState[] {
  const holdings = [second, minute];
  const isRefused = holdings.some((each) => isUsedUp(each, requests));
  return holdings.map((holding) => {
    const exceeded = isUsedUp(holding, requests);
    if (!isRefused) holding.held -= costIn(holding.policy, requests);
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

/** The account of a principal, which takes the place of two that were forgotten, if there are as many to forget. */
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

/** Looks at two accounts whenever there is one more, oldest first: those in use go to the end, and the others are dropped. */
function forgetIdle(accounts: Map<string, Account>, now: number): void {
  const oldest = accounts.entries();
  for (const { value } of [oldest.next(), oldest.next()]) {
    if (value === undefined) return;
    const [key, account] = value;
    accounts.delete(key);
    if (account.minute.endsAt > now || account.asking !== undefined) accounts.set(key, account);
  }
}
