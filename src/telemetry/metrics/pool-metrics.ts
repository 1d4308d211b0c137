import type { Attributes, Meter } from "@opentelemetry/api";

/** The measured properties of a connection pool. Pools of the package `pg` have them. */
export interface MeasuredPool {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
  readonly options: { readonly max: number };
}

/** Metrics of the process's database connections. */
export interface PoolMetrics {
  /** Measures a pool and reports the values under this name. */
  watch(name: "calls" | "jobs" | "quotas" | "replica", pool: MeasuredPool): void;
  /** Records how long a call waited for a connection of the pool `calls`, and whether the call got a connection. */
  acquired(ms: number, isGiven: boolean): void;
}

/**
 * Histogram boundaries in seconds. Taking an idle connection takes microseconds; opening a new one takes some
 * milliseconds. A call gives up after WAIT_SECONDS (default 2).
 */
const WAITS = [0.0001, 0.001, 0.005, 0.025, 0.1, 0.5, 1, 2, 5];

/** Creates the pool instruments by OpenTelemetry's semantic conventions for database clients. */
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
  observed("count", "Open connections by state.", "{connection}", ({ totalCount, idleCount }) => [
    [totalCount - idleCount, { "db.client.connection.state": "used" }],
    [idleCount, { "db.client.connection.state": "idle" }],
  ]);
  observed("max", "Connection limit.", "{connection}", ({ options }) => [[options.max, {}]]);
  observed("pending_requests", "Waiting requests.", "{request}", ({ waitingCount }) => [[waitingCount, {}]]);
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
