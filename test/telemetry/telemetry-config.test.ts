import { describe, expect, test } from "vitest";
import { readTelemetryConfig } from "../../src/telemetry/telemetry-config.js";

const proto = { protocol: "http/protobuf" } as const;
const metrics = { ...proto, everyMs: 60_000 };
const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };

describe("the settings of the exporter", () => {
  test.each([
    [{}, {}],
    [{ OTEL_SERVICE_NAME: "cupo", OTEL_EXPORTER_OTLP_ENDPOINT: "" }, {}],
    [endpoint, { traces: proto, metrics }],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://collector/traces" }, { traces: proto }],
    [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://collector/metrics" }, { metrics }],
    [{ OTEL_TRACES_EXPORTER: "otlp" }, { traces: proto }],
    [{ OTEL_METRICS_EXPORTER: "otlp", OTEL_METRIC_EXPORT_INTERVAL: "5000" }, { metrics: { ...proto, everyMs: 5_000 } }],
    [{ ...endpoint, OTEL_TRACES_EXPORTER: "none" }, { metrics }],
    [{ ...endpoint, OTEL_SDK_DISABLED: "TRUE" }, {}],
    [
      { ...endpoint, OTEL_METRICS_EXPORTER: "none", OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" },
      { traces: { protocol: "http/json" } },
    ],
    [
      {
        ...endpoint,
        OTEL_METRICS_EXPORTER: "none",
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
        OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/protobuf",
      },
      { traces: proto },
    ],
  ])("%j", (environment, config) => {
    expect(readTelemetryConfig(environment)).toEqual({ ...config, warnings: [] });
  });
});

describe("unknown values are ignored with a warning that does not repeat them", () => {
  test.each([
    [
      { ...endpoint, OTEL_TRACES_EXPORTER: "zipkin" },
      { metrics },
      "OTEL_TRACES_EXPORTER must be otlp or none; it is ignored, and the signal is not exported",
    ],
    [
      { OTEL_TRACES_EXPORTER: "otlp", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" },
      { traces: proto },
      "OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf or http/json; http/protobuf is used",
    ],
    [
      { OTEL_METRICS_EXPORTER: "otlp", OTEL_METRIC_EXPORT_INTERVAL: "soon" },
      { metrics },
      "OTEL_METRIC_EXPORT_INTERVAL must be a whole number of milliseconds; 60000 is used",
    ],
  ])("%j", (environment, config, warning) => {
    expect(readTelemetryConfig(environment)).toEqual({ ...config, warnings: [warning] });
  });
});
