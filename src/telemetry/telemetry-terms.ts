/** How a signal is sent: by OTLP over HTTP, in one of its two forms. */
export interface ExportTerms {
  readonly protocol: "http/protobuf" | "http/json";
  /** Where to; where OTEL_EXPORTER_OTLP_ENDPOINT and its kin say unless given. */
  readonly url?: string;
}

/** What is sent where. A signal that is absent is not sent. */
export interface TelemetryTerms {
  readonly traces?: ExportTerms;
  /** With how often, in milliseconds. */
  readonly metrics?: ExportTerms & { readonly everyMs: number };
  /** What was set to something that nothing can be made of, for the log. */
  readonly warnings: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;
type Signal = "TRACES" | "METRICS";

const EVERY_MS = 60_000;

/**
 * Reads from OpenTelemetry's own variables what is to be sent (its specification, "Environment Variable Specification" and
 * "OTLP Exporter Configuration"). Nothing is unless an endpoint is set, or `otlp` as the exporter of a signal. A value that is
 * not known is ignored with a warning, as the specification wants; what else there is, such as headers, time limits and
 * samplers, the SDK reads by itself.
 */
export function readTelemetryTerms(environment: Environment): TelemetryTerms {
  const warnings: string[] = [];
  if (environment["OTEL_SDK_DISABLED"]?.toLowerCase() === "true") return { warnings };
  const traces = termsOf("TRACES", environment, warnings);
  const metrics = termsOf("METRICS", environment, warnings);
  return {
    ...(traces === undefined ? {} : { traces }),
    ...(metrics === undefined ? {} : { metrics: { ...metrics, everyMs: intervalOf(environment, warnings) } }),
    warnings,
  };
}

function termsOf(signal: Signal, environment: Environment, warnings: string[]): ExportTerms | undefined {
  const exporterName = `OTEL_${signal}_EXPORTER`;
  const exporter = environment[exporterName] || undefined;
  if (exporter === "none") return undefined;
  if (exporter !== undefined && exporter !== "otlp") {
    warnings.push(`${exporterName} is neither otlp nor none, and ignored`);
    return undefined;
  }
  const endpoints = [`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`, "OTEL_EXPORTER_OTLP_ENDPOINT"];
  if (exporter === undefined && !endpoints.some((name) => environment[name])) return undefined;
  return { protocol: protocolOf(signal, environment, warnings) };
}

function protocolOf(signal: Signal, environment: Environment, warnings: string[]): ExportTerms["protocol"] {
  const names = [`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`, "OTEL_EXPORTER_OTLP_PROTOCOL"];
  const name = names.find((each) => environment[each]);
  const held = name === undefined ? "http/protobuf" : environment[name];
  if (held === "http/json" || held === "http/protobuf") return held;
  warnings.push(`${name} is neither http/protobuf nor http/json; http/protobuf is used`);
  return "http/protobuf";
}

function intervalOf(environment: Environment, warnings: string[]): number {
  const held = environment["OTEL_METRIC_EXPORT_INTERVAL"] || String(EVERY_MS);
  if (/^[1-9]\d{0,8}$/.test(held)) return Number(held);
  warnings.push(`OTEL_METRIC_EXPORT_INTERVAL is no number of milliseconds; ${EVERY_MS} is used`);
  return EVERY_MS;
}
