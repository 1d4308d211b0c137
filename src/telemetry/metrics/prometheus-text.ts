import { PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { DataPointType, type MetricData, type ResourceMetrics } from "@opentelemetry/sdk-metrics";

/**
 * Prometheus' names of OpenTelemetry's units (OpenTelemetry specification, "Prometheus and OpenMetrics Compatibility").
 */
const SUFFIXES: Readonly<Record<string, string>> = { s: "seconds", By: "bytes" };

const serializer = new PrometheusSerializer(undefined, false, undefined, false, true);

/**
 * Formats metrics in Prometheus' text format. Appends units to names, such as `_seconds` in
 * `http_server_request_duration_seconds`. OpenTelemetry's collector does this too, but `PrometheusSerializer` does not.
 */
export function prometheusText(metrics: ResourceMetrics): string {
  const scopeMetrics = metrics.scopeMetrics.map((scope) => ({ ...scope, metrics: scope.metrics.map(withUnit) }));
  return serializer.serialize({ ...metrics, scopeMetrics });
}

/**
 * Returns a metric with its unit at the end of its name: `seconds`, `bytes`, or `ratio` for a gauge with the unit 1. A
 * name with any other unit stays unchanged. The serializer later adds the suffixes of counters and histograms.
 */
function withUnit(metric: MetricData): MetricData {
  const { name, unit } = metric.descriptor;
  const isShare = unit === "1" && metric.dataPointType === DataPointType.GAUGE;
  const suffix = isShare ? "ratio" : SUFFIXES[unit];
  const shown = suffix === undefined ? name : `${name}.${suffix}`;
  return { ...metric, descriptor: { ...metric.descriptor, name: shown, unit: suffix ?? "" } };
}
