import type { Attributes, Meter, ObservableGauge } from "@opentelemetry/api";
import type { Call } from "../../call.js";
import { type CupoError, type LimitName, reasonOf } from "../../errors.js";

/** What waits to be done in the background, in all processes together. */
export interface Backlog {
  /** How many days the furthest of the schedules that are to be made is behind the horizon. */
  readonly scheduleDays: number;
  readonly jobs: Waiting;
  /** Events that have no position in their feed yet. */
  readonly events: Waiting;
}

/** How much waits, and for how long the oldest of it has. */
export interface Waiting {
  readonly count: number;
  readonly oldestSeconds: number;
}

/** What the service does, beside requests. */
export interface ServiceMetrics {
  /** A call has failed with an error, or what did not become a call. */
  failed(error: CupoError, call: Call): void;
  /** A limit was reached outside of calls. */
  reached(limit: AnyLimit): void;
  /** A read that a replica was asked for ended; how, is told by {@link ReplicaOutcome}. */
  readFromReplica(outcome: ReplicaOutcome): void;
  /** Has it measured whether the database takes writes; undefined where that cannot be known. */
  watchReadiness(takesWrites: () => Promise<boolean | undefined>): void;
  /** Has the age of the issuer's keys measured, in milliseconds. */
  watchKeys(ageMs: () => number | undefined): void;
  /** Has it measured how many calls wait to be at work. */
  watchWaiting(count: () => number): void;
  /** Has the backlog measured; undefined where it cannot be known. */
  watchBacklog(read: () => Promise<Backlog | undefined>): void;
}

/** Whether the replica served a read; it was behind the primary, was away, or cannot do what the read does, otherwise. */
const REPLICA_OUTCOMES = ["served", "behind", "away", "unable"] as const;
type ReplicaOutcome = (typeof REPLICA_OUTCOMES)[number];

const SECONDS_OF_A_DAY = 86_400;

type AnyLimit = LimitName | "connections";

/** They are there from the start, so that a first refusal is seen to be one more. */
const LIMITS: readonly AnyLimit[] = ["quota", "calls", "load", "streams", "connections", "planned_slots", "open_slots"];

/** Makes the instruments of the service's own. */
export function createServiceMetrics(meter: Meter): ServiceMetrics {
  const problems = meter.createCounter("cupo.problems", {
    description: "Problems that callers were told of, by code and by which of its reasons.",
    unit: "{problem}",
  });
  const limits = meter.createCounter("cupo.limits.reached", {
    description: "What was refused, or not done, because there would have been too much of it.",
    unit: "{refusal}",
  });
  const replicaReads = meter.createCounter("cupo.replica.reads", {
    description: "Reads that the replica was asked for, by whether it served them or left them to the primary.",
    unit: "{read}",
  });
  for (const outcome of REPLICA_OUTCOMES) replicaReads.add(0, { "cupo.replica.outcome": outcome });
  for (const limit of LIMITS) limits.add(0, { "cupo.limit": limit });
  return {
    failed(error, { operation }) {
      const from: Attributes = operation === undefined ? {} : { "cupo.operation": operation };
      problems.add(1, { "cupo.problem.code": error.code, "cupo.problem.reason": reasonOf(error), ...from });
      if (error.limit !== undefined) limits.add(1, { "cupo.limit": error.limit });
    },
    reached: (limit) => limits.add(1, { "cupo.limit": limit }),
    readFromReplica: (outcome) => replicaReads.add(1, { "cupo.replica.outcome": outcome }),
    watchReadiness(takesWrites) {
      const text = "Whether the database takes writes, without which the service is not ready: 1 or 0.";
      gaugeOf(meter, "cupo.ready", text, "").addCallback(async (result) => {
        result.observe((await takesWrites()) === true ? 1 : 0);
      });
    },
    watchKeys(ageMs) {
      gaugeOf(meter, "cupo.keyset.age", "How old the issuer's keys are that are used.", "s").addCallback((result) => {
        const age = ageMs();
        if (age !== undefined) result.observe(age / 1000);
      });
    },
    watchWaiting: (count) => observeWaiting(meter, count),
    watchBacklog: (read) => observeBacklog(meter, read),
  };
}

function observeWaiting(meter: Meter, count: () => number): void {
  const gauge = gaugeOf(meter, "cupo.calls.waiting", "Calls that wait to be at work.", "{call}");
  gauge.addCallback((result) => result.observe(count()));
}

function observeBacklog(meter: Meter, read: () => Promise<Backlog | undefined>): void {
  const lag = gaugeOf(
    meter,
    "cupo.materialization.lag",
    "How far the furthest of the schedules that are to be made is behind the horizon, in whole days.",
    "s",
  );
  const jobs = gaugeOf(meter, "cupo.jobs.waiting", "Background jobs that could be done and are not.", "{job}");
  const jobsAge = gaugeOf(meter, "cupo.jobs.oldest.age", "How long the oldest of them has waited.", "s");
  const events = gaugeOf(meter, "cupo.events.outstanding", "Events that no feed has yet.", "{event}");
  const eventsAge = gaugeOf(meter, "cupo.events.oldest.age", "How long ago the oldest of them happened.", "s");
  meter.addBatchObservableCallback(
    async (result) => {
      const backlog = await read();
      if (backlog === undefined) return;
      result.observe(lag, backlog.scheduleDays * SECONDS_OF_A_DAY);
      result.observe(jobs, backlog.jobs.count);
      result.observe(jobsAge, backlog.jobs.oldestSeconds);
      result.observe(events, backlog.events.count);
      result.observe(eventsAge, backlog.events.oldestSeconds);
    },
    [lag, jobs, jobsAge, events, eventsAge],
  );
}

function gaugeOf(meter: Meter, name: string, description: string, unit: string): ObservableGauge {
  return meter.createObservableGauge(name, { description, unit });
}
