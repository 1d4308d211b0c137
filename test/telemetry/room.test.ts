import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { arrows, imports, readSources, type Sources } from "../support/sources.js";

const sources = readSources(fileURLToPath(new URL("../../src", import.meta.url)));
const foreign = /^(services|postgres|rest\/(?!rest-error)|rpc|http|interceptors|jobs|auth|server)\b/;
const fromTelemetry = (of: Sources) => arrows(of, /^telemetry\//, foreign);
const ofLibraries = (of: Sources) => imports(of, /^(?!telemetry\/)/, /^@opentelemetry\//);
/** Returns telemetry's top-level modules that import OpenTelemetry's libraries statically. */
const atStart = (of: Sources) =>
  Object.keys(of).filter(
    (path) => /^telemetry\/[^/]+\.ts$/.test(path) && /^import (?!type\b)[^;]*"@opentelemetry/m.test(of[path] ?? ""),
  );

test("telemetry imports neither services nor the database, and of transports only their errors", () => {
  expect(fromTelemetry(sources)).toEqual([]);
  const defect = {
    "telemetry/traces/call-spans.ts": 'import { RestError } from "../../rest/rest-error.js";',
    "telemetry/metrics/pool-metrics.ts": 'import type { Database } from "../../postgres/database.js";',
  };
  expect(fromTelemetry(defect)).toEqual(["telemetry/metrics/pool-metrics.ts → postgres/database.ts"]);
});

test("only telemetry imports OpenTelemetry's libraries", () => {
  expect(ofLibraries(sources)).toEqual([]);
  const defect = { "services/a.ts": 'import { trace } from "@opentelemetry/api";' };
  expect(ofLibraries(defect)).toEqual(["services/a.ts → @opentelemetry/api"]);
});

test("and only two of its top-level files, which open-telemetry.ts loads on demand", () => {
  expect(atStart(sources)).toEqual(["telemetry/resource.ts", "telemetry/sending-errors.ts"]);
  const { "telemetry/open-telemetry.ts": door = "" } = sources;
  expect(door).not.toMatch(/^import (?!type\b)[^;]*\/(resource|sending-errors|live-metrics|open-tracing)\.js/m);
});
