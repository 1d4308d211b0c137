import type { Attributes, Counter, Meter, ObservableGauge } from "@opentelemetry/api";
import type { Call } from "../../call.js";
import { type CupoError, type LimitName, reasonOf } from "../../errors.js";
import { type TokenFault, tokenFaults } from "../../token-faults.js";

/** The state of background work, webhooks and holds, for all tenants together. */
export interface Backlog {
  /**
   * The largest number of days by which a program's schedule ends before the horizon; 0 if every schedule is up to
   * date. The horizon is the date up to which schedules should have slots. Counts only active programs that are at an
   * active location, have a service, and have a requested schedule.
   */
  readonly scheduleDays: number;
  readonly jobs: Waiting;
  /** Events that do not yet have a position in the event feed of their tenant. */
  readonly events: Waiting;
  /** Pending deliveries of active webhooks. */
  readonly deliveries: Waiting;
  /** The number of webhooks that the service has disabled and that are still disabled. */
  readonly disabledWebhooks: number;
  /**
   * The number of holds by state. `live` are live holds of clients, and `offered` are live offers to waitlist
   * entries. `expired` are holds and offers that expired in the last hour.
   */
  readonly holds: Readonly<Record<(typeof HOLD_STATES)[number], number>>;
}

const HOLD_STATES = ["live", "offered", "expired"] as const;

/** The number of waiting items and the age of the oldest one. Both are 0 if nothing waits. */
export interface Waiting {
  readonly count: number;
  readonly oldestSeconds: number;
}

/** Metrics of the service other than the request metrics. */
export interface ServiceMetrics {
  /** Records the error of a call, or of a request that failed before it became a call. */
  failed(error: CupoError, call: Call): void;
  /** Records a limit that was reached outside of calls, such as the limit of connections. */
  reached(limit: AnyLimit): void;
  /** Records a request that was rejected because its access token is invalid or missing. */
  refusedToken(fault: TokenFault): void;
  /** Records the outcome of an attempt to run a read on the replica of the database. */
  readFromReplica(outcome: ReplicaOutcome): void;
  /** Records the outcome of an attempt to send an event to a webhook. */
  sentToWebhook(outcome: DeliveryOutcome): void;
  /** Records that a webhook was disabled. */
  disabledWebhook(reason: WebhookFault): void;
  /** Measures whether the database accepts writes. Reports an unknown state (undefined) like a read-only database. */
  watchReadiness(takesWrites: () => Promise<boolean | undefined>): void;
  /**
   * Measures the age of the issuer's keys. `ageMs` returns it in milliseconds; undefined before the first load and for
   * keys that never change.
   */
  watchKeys(ageMs: () => number | undefined): void;
  /** Measures how many calls wait to run. */
  watchWaiting(count: () => number): void;
  /**
   * At each collection of the metrics, measures the backlog by `read`. If `read` resolves to undefined, measures
   * nothing.
   */
  watchBacklog(read: () => Promise<Backlog | undefined>): void;
}

/**
 * Outcomes of an attempt to run a read on the replica of the database:
 * - `served`: the replica ran the read.
 * - `behind`: the replica lacked recent changes of the primary, or did not enforce row-level security for its role.
 * - `promoted`: the replica had become a primary.
 * - `away`: the replica was unreachable or too slow.
 * - `unable`: the replica could not run the statements.
 */
const REPLICA_OUTCOMES = ["served", "behind", "promoted", "away", "unable"] as const;
type ReplicaOutcome = (typeof REPLICA_OUTCOMES)[number];

/** Outcomes of an attempt to send an event. `dropped`: the event was outdated and not sent, such as an old reminder. */
const DELIVERY_OUTCOMES = ["delivered", "failed", "dropped"] as const;
type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number];

/** Reasons for which the service disables webhooks. */
const WEBHOOK_FAULTS = ["GONE", "RETRIES_EXHAUSTED"] as const;
type WebhookFault = (typeof WEBHOOK_FAULTS)[number];

const SECONDS_OF_A_DAY = 86_400;

type AnyLimit = LimitName | "connections";

/** All limits. The counter of each limit starts at 0, so that its first rejection shows as an increase. */
const LIMITS: readonly AnyLimit[] = [
  ...(["quota", "calls", "tenant_calls", "heavy_calls", "load", "streams", "tenant_streams"] as const),
  ...(["connections", "planned_slots", "open_slots"] as const),
];

/** Creates the instruments of {@link ServiceMetrics}. */
export function createServiceMetrics(meter: Meter): ServiceMetrics {
  const problems = meter.createCounter("cupo.problems", {
    description: "Problems in responses, by code and reason.",
    unit: "{problem}",
  });
  const limits = meter.createCounter("cupo.limits.reached", {
    description: "Rejected requests and omitted work, by the limit that was reached.",
    unit: "{refusal}",
  });
  const replicaReads = meter.createCounter("cupo.replica.reads", {
    description: "Reads that were offered to the replica, by outcome; the primary serves all but the served ones.",
    unit: "{read}",
  });
  const tokens = countTokens(meter);
  const webhooks = countWebhooks(meter);
  for (const outcome of REPLICA_OUTCOMES) replicaReads.add(0, { "cupo.replica.outcome": outcome });
  for (const limit of LIMITS) limits.add(0, { "cupo.limit": limit });
  return {
    failed(error, { operation }) {
      const from: Attributes = operation === undefined ? {} : { "cupo.operation": operation };
      problems.add(1, { "cupo.problem.code": error.code, "cupo.problem.reason": reasonOf(error), ...from });
      if (error.limit !== undefined) limits.add(1, { "cupo.limit": error.limit });
    },
    reached: (limit) => limits.add(1, { "cupo.limit": limit }),
    refusedToken: (fault) => tokens.add(1, { "cupo.token.fault": fault }),
    readFromReplica: (outcome) => replicaReads.add(1, { "cupo.replica.outcome": outcome }),
    ...webhooks,
    watchReadiness(takesWrites) {
      const text = "1 if the database accepts writes, so that the service is ready; otherwise 0.";
      gaugeOf(meter, "cupo.ready", text, "").addCallback(async (result) => {
        result.observe((await takesWrites()) === true ? 1 : 0);
      });
    },
    watchKeys: (ageMs) => observeKeys(meter, ageMs),
    watchWaiting: (count) => observeWaiting(meter, count),
    watchBacklog: (read) => observeBacklog(meter, read),
  };
}

function countTokens(meter: Meter): Counter {
  const tokens = meter.createCounter("cupo.tokens.refused", {
    description: "Requests rejected because of their access token, by fault.",
    unit: "{request}",
  });
  for (const fault of tokenFaults) tokens.add(0, { "cupo.token.fault": fault });
  return tokens;
}

function countWebhooks(meter: Meter): Pick<ServiceMetrics, "sentToWebhook" | "disabledWebhook"> {
  const sent = meter.createCounter("cupo.webhooks.deliveries", {
    description: "Attempts to send an event to a webhook, by outcome.",
    unit: "{attempt}",
  });
  const disabled = meter.createCounter("cupo.webhooks.disablings", {
    description: "Webhooks that the service disabled, by reason.",
    unit: "{webhook}",
  });
  for (const outcome of DELIVERY_OUTCOMES) sent.add(0, { "cupo.webhook.outcome": outcome });
  for (const fault of WEBHOOK_FAULTS) disabled.add(0, { "cupo.webhook.fault": fault.toLowerCase() });
  return {
    sentToWebhook: (outcome) => sent.add(1, { "cupo.webhook.outcome": outcome }),
    disabledWebhook: (fault) => disabled.add(1, { "cupo.webhook.fault": fault.toLowerCase() }),
  };
}

function observeKeys(meter: Meter, ageMs: () => number | undefined): void {
  gaugeOf(meter, "cupo.keyset.age", "Age of the issuer's keys in use.", "s").addCallback((result) => {
    const age = ageMs();
    if (age !== undefined) result.observe(age / 1000);
  });
}

function observeWaiting(meter: Meter, count: () => number): void {
  const gauge = gaugeOf(meter, "cupo.calls.waiting", "Calls that wait for their turn.", "{call}");
  gauge.addCallback((result) => result.observe(count()));
}

function observeBacklog(meter: Meter, read: () => Promise<Backlog | undefined>): void {
  const lag = gaugeOf(
    meter,
    "cupo.materialization.lag",
    "How far the schedule that is furthest behind is from the horizon, in whole days.",
    "s",
  );
  const jobs = gaugeOf(meter, "cupo.jobs.waiting", "Background jobs that are due and not started.", "{job}");
  const jobsAge = gaugeOf(meter, "cupo.jobs.oldest.age", "How long the oldest due background job has waited.", "s");
  const events = gaugeOf(meter, "cupo.events.outstanding", "Events without a position in a feed.", "{event}");
  const eventsAge = gaugeOf(
    meter,
    "cupo.events.oldest.age",
    "Age of the oldest event without a position in a feed.",
    "s",
  );
  const pending = gaugeOf(meter, "cupo.webhooks.pending", "Events that active webhooks have not accepted.", "{event}");
  const pendingAge = gaugeOf(meter, "cupo.webhooks.oldest.age", "Age of the oldest of these events.", "s");
  const disabled = gaugeOf(meter, "cupo.webhooks.disabled", "Webhooks that the service disabled.", "{webhook}");
  const holds = gaugeOf(meter, "cupo.holds", "Holds that are live, offered, or expired in the last hour.", "{hold}");
  meter.addBatchObservableCallback(
    async (result) => {
      const backlog = await read();
      if (backlog === undefined) return;
      result.observe(lag, backlog.scheduleDays * SECONDS_OF_A_DAY);
      result.observe(jobs, backlog.jobs.count);
      result.observe(jobsAge, backlog.jobs.oldestSeconds);
      result.observe(events, backlog.events.count);
      result.observe(eventsAge, backlog.events.oldestSeconds);
      result.observe(pending, backlog.deliveries.count);
      result.observe(pendingAge, backlog.deliveries.oldestSeconds);
      result.observe(disabled, backlog.disabledWebhooks);
      for (const state of HOLD_STATES) result.observe(holds, backlog.holds[state], { "cupo.hold.state": state });
    },
    [lag, jobs, jobsAge, events, eventsAge, pending, pendingAge, disabled, holds],
  );
}

function gaugeOf(meter: Meter, name: string, description: string, unit: string): ObservableGauge {
  return meter.createObservableGauge(name, { description, unit });
}
