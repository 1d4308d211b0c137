import { PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { DataPointType, type MetricData, type ResourceMetrics } from "@opentelemetry/sdk-metrics";

/** What OpenTelemetry's units are called in names for Prometheus (its specification, "Prometheus and OpenMetrics Compatibility"). */
const SUFFIXES: Readonly<Record<string, string>> = { s: "seconds", By: "bytes" };

const serializer = new PrometheusSerializer(undefined, false, undefined, false, true);

/**
 * Metrics as Prometheus reads them. Units are part of the names, as Prometheus and OpenTelemetry's collector have it and the
 * serializer does not: `http_server_request_duration_seconds`.
 */
export function prometheusText(metrics: ResourceMetrics): string {
  const scopeMetrics = metrics.scopeMetrics.map((scope) => ({ ...scope, metrics: scope.metrics.map(withUnit) }));
  return serializer.serialize({ ...metrics, scopeMetrics });
}

/** A metric by the name that Prometheus knows it by, but for what is added to counters and parts of histograms. */
function withUnit(metric: MetricData): MetricData {
  const { name, unit } = metric.descriptor;
  const isShare = unit === "1" && metric.dataPointType === DataPointType.GAUGE;
  const suffix = isShare ? "ratio" : SUFFIXES[unit];
  const shown = suffix === undefined ? name : `${name}.${suffix}`;
  return { ...metric, descriptor: { ...metric.descriptor, name: shown, unit: suffix ?? "" } };
}
