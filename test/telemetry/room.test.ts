import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { arrows, imports, readSources, type Sources } from "../support/sources.js";

const sources = readSources(fileURLToPath(new URL("../../src", import.meta.url)));
const foreign = /^(services|postgres|rest\/(?!rest-error)|rpc|http|interceptors|jobs|auth|server)\b/;
const fromTelemetry = (of: Sources) => arrows(of, /^telemetry\//, foreign);
const ofLibraries = (of: Sources) => imports(of, /^(?!telemetry\/)/, /^@opentelemetry\//);
/** What is loaded when the service starts must not load the library. */
const atStart = (of: Sources) =>
  Object.keys(of).filter(
    (path) => /^telemetry\/[^/]+\.ts$/.test(path) && /^import (?!type\b)[^;]*"@opentelemetry/m.test(of[path] ?? ""),
  );

test("telemetry knows neither services nor the database, and of transports their errors alone", () => {
  expect(fromTelemetry(sources)).toEqual([]);
  const defect = {
    "telemetry/traces/call-spans.ts": 'import { RestError } from "../../rest/rest-error.js";',
    "telemetry/metrics/pool-metrics.ts": 'import type { Database } from "../../postgres/database.js";',
  };
  expect(fromTelemetry(defect)).toEqual(["telemetry/metrics/pool-metrics.ts → postgres/database.ts"]);
});

test("OpenTelemetry's libraries are known to telemetry alone", () => {
  expect(ofLibraries(sources)).toEqual([]);
  const defect = { "services/a.ts": 'import { trace } from "@opentelemetry/api";' };
  expect(ofLibraries(defect)).toEqual(["services/a.ts → @opentelemetry/api"]);
});

test("and of what stands at its door only two files load them, when they are asked to", () => {
  expect(atStart(sources)).toEqual(["telemetry/resource.ts", "telemetry/sending-errors.ts"]);
  const { "telemetry/open-telemetry.ts": door = "" } = sources;
  expect(door).not.toMatch(/^import (?!type\b)[^;]*\/(resource|sending-errors|live-metrics|open-tracing)\.js/m);
});
