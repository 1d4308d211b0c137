import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import type { Meter } from "@opentelemetry/api";

const RESOLUTION_MS = 20;
const PERCENTILES = { p50: 50, p90: 90, p99: 99 } as const;

/** Measures the process: event loop, CPU time, memory. Returns a function that stops the measurement. */
export function measureProcess(meter: Meter): () => void {
  const stop = measureEventLoop(meter);
  meter.createObservableCounter("process.cpu.time", { description: "CPU time.", unit: "s" }).addCallback((result) => {
    const { user, system } = process.cpuUsage();
    result.observe(user / 1e6, { "cpu.mode": "user" });
    result.observe(system / 1e6, { "cpu.mode": "system" });
  });
  const gauge = (name: string, description: string, unit: string, read: () => number) =>
    meter.createObservableGauge(name, { description, unit }).addCallback((result) => result.observe(read()));
  gauge("process.memory.usage", "Resident memory.", "By", () => process.memoryUsage.rss());
  gauge("process.uptime", "How long the process has run.", "s", () => process.uptime());
  gauge("v8js.memory.heap.used", "Memory of the heap in use.", "By", () => getHeapStatistics().used_heap_size);
  gauge("v8js.memory.heap.limit", "Size limit of the heap.", "By", () => getHeapStatistics().heap_size_limit);
  return stop;
}

/**
 * Measures the delay and the utilization of the event loop since the last collection. The delay excludes the interval
 * of the measuring timer. Returns a function that stops the measurement of the delay.
 */
function measureEventLoop(meter: Meter): () => void {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  const late = (nanoseconds: number) =>
    Math.max(0, (Number.isFinite(nanoseconds) ? nanoseconds : 0) / 1e9 - RESOLUTION_MS / 1e3);
  const delayGauge = (name: string) =>
    meter.createObservableGauge(`nodejs.eventloop.delay.${name}`, {
      description: `Delay of the event loop (${name}) since the last collection.`,
      unit: "s",
    });
  const mean = delayGauge("mean");
  const max = delayGauge("max");
  const percentiles = Object.entries(PERCENTILES).map(([name, rank]) => ({ gauge: delayGauge(name), rank }));
  const utilization = meter.createObservableGauge("nodejs.eventloop.utilization", {
    description: "The share of time in which the event loop had work, since the last collection.",
    unit: "1",
  });
  let before = performance.eventLoopUtilization();
  meter.addBatchObservableCallback(
    (result) => {
      result.observe(mean, late(histogram.mean));
      result.observe(max, late(histogram.max));
      for (const { gauge, rank } of percentiles) result.observe(gauge, late(histogram.percentile(rank)));
      histogram.reset();
      const now = performance.eventLoopUtilization();
      result.observe(utilization, performance.eventLoopUtilization(now, before).utilization);
      before = now;
    },
    [mean, max, utilization, ...percentiles.map(({ gauge }) => gauge)],
  );
  return () => void histogram.disable();
}
