import type { Attributes, Meter } from "@opentelemetry/api";

/** What is to be known of a pool of connections; that of pg has it. */
export interface MeasuredPool {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
  readonly options: { readonly max: number };
}

/** The connections of the process to its database. */
export interface PoolMetrics {
  /** Has a pool measured under a name. */
  watch(name: "calls" | "jobs" | "quotas" | "replica", pool: MeasuredPool): void;
  /** Somebody waited for a connection of the pool of the calls, and got it or not. */
  acquired(ms: number, isGiven: boolean): void;
}

/** Seconds: a connection that is idle takes microseconds, a new one some milliseconds, and after two seconds it is given up. */
const WAITS = [0.0001, 0.001, 0.005, 0.025, 0.1, 0.5, 1, 2, 5];

/** Makes the instruments of pools, by OpenTelemetry's semantic conventions for database clients. */
export function createPoolMetrics(meter: Meter): PoolMetrics {
  const pools = new Map<string, MeasuredPool>();
  const observed = (
    name: string,
    description: string,
    unit: string,
    read: (pool: MeasuredPool) => [number, Attributes][],
  ) =>
    meter.createObservableUpDownCounter(`db.client.connection.${name}`, { description, unit }).addCallback((result) => {
      for (const [poolName, pool] of pools) {
        for (const [value, attributes] of read(pool)) {
          result.observe(value, { "db.client.connection.pool.name": poolName, ...attributes });
        }
      }
    });
  observed("count", "Open connections, by what they do.", "{connection}", ({ totalCount, idleCount }) => [
    [totalCount - idleCount, { "db.client.connection.state": "used" }],
    [idleCount, { "db.client.connection.state": "idle" }],
  ]);
  observed("max", "How many connections there may be.", "{connection}", ({ options }) => [[options.max, {}]]);
  observed("pending_requests", "Who waits for a connection.", "{request}", ({ waitingCount }) => [[waitingCount, {}]]);
  const wait = meter.createHistogram("db.client.connection.wait_time", {
    description: "How long calls waited for a connection.",
    unit: "s",
    advice: { explicitBucketBoundaries: WAITS },
  });
  const timeouts = meter.createCounter("db.client.connection.timeouts", {
    description: "Calls that got no connection.",
    unit: "{timeout}",
  });
  const ofCalls = { "db.client.connection.pool.name": "calls" };
  timeouts.add(0, ofCalls);
  return {
    watch: (name, pool) => void pools.set(name, pool),
    acquired(ms, isGiven) {
      wait.record(ms / 1000, ofCalls);
      if (!isGiven) timeouts.add(1, ofCalls);
    },
  };
}
