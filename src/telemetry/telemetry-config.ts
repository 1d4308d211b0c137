/** The export of a signal: by OTLP over HTTP, in one of two encodings. */
export interface ExporterConfig {
  readonly protocol: "http/protobuf" | "http/json";
  /** The URL to send to. If absent, the SDK reads it from OTEL_EXPORTER_OTLP_ENDPOINT or a related variable. */
  readonly url?: string;
}

/** The exported signals. A missing signal is not exported. */
export interface TelemetryConfig {
  readonly traces?: ExporterConfig;
  /** The export of metrics, and its interval in milliseconds. */
  readonly metrics?: ExporterConfig & { readonly everyMs: number };
  /** Warnings for the log about invalid values. */
  readonly warnings: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;
type Signal = "TRACES" | "METRICS";

const EVERY_MS = 60_000;

/**
 * Reads the environment variables for OpenTelemetry's exporters (OpenTelemetry specification, "Environment Variable
 * Specification" and "OTLP Exporter Configuration"). The SDK itself reads the other variables, such as headers, time
 * limits and samplers.
 *
 * Unless OTEL_SDK_DISABLED is `true`, a signal (traces or metrics) is exported in these cases:
 * - The variable of its exporter, such as OTEL_TRACES_EXPORTER, is `otlp`.
 * - This variable is not set, but an endpoint is set.
 *
 * An unknown value causes a warning. A signal with an unknown exporter is not exported. For an unknown protocol or
 * interval, the default is used.
 */
export function readTelemetryConfig(environment: Environment): TelemetryConfig {
  const warnings: string[] = [];
  if (environment["OTEL_SDK_DISABLED"]?.toLowerCase() === "true") return { warnings };
  const traces = exporterConfigOf("TRACES", environment, warnings);
  const metrics = exporterConfigOf("METRICS", environment, warnings);
  return {
    ...(traces === undefined ? {} : { traces }),
    ...(metrics === undefined ? {} : { metrics: { ...metrics, everyMs: intervalOf(environment, warnings) } }),
    warnings,
  };
}

function exporterConfigOf(signal: Signal, environment: Environment, warnings: string[]): ExporterConfig | undefined {
  const exporterName = `OTEL_${signal}_EXPORTER`;
  const exporter = environment[exporterName] || undefined;
  if (exporter === "none") return undefined;
  if (exporter !== undefined && exporter !== "otlp") {
    warnings.push(`${exporterName} must be otlp or none; it is ignored, and the signal is not exported`);
    return undefined;
  }
  const endpoints = [`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`, "OTEL_EXPORTER_OTLP_ENDPOINT"];
  if (exporter === undefined && !endpoints.some((name) => environment[name])) return undefined;
  return { protocol: protocolOf(signal, environment, warnings) };
}

function protocolOf(signal: Signal, environment: Environment, warnings: string[]): ExporterConfig["protocol"] {
  const names = [`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`, "OTEL_EXPORTER_OTLP_PROTOCOL"];
  const name = names.find((each) => environment[each]);
  const held = name === undefined ? "http/protobuf" : environment[name];
  if (held === "http/json" || held === "http/protobuf") return held;
  warnings.push(`${name} must be http/protobuf or http/json; http/protobuf is used`);
  return "http/protobuf";
}

function intervalOf(environment: Environment, warnings: string[]): number {
  const held = environment["OTEL_METRIC_EXPORT_INTERVAL"] || String(EVERY_MS);
  if (/^[1-9]\d{0,8}$/.test(held)) return Number(held);
  warnings.push(`OTEL_METRIC_EXPORT_INTERVAL must be a whole number of milliseconds; ${EVERY_MS} is used`);
  return EVERY_MS;
}
