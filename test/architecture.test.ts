import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { serviceRooms, tableRooms } from "./support/rooms.js";
import { formRules, type Rule } from "./support/source-form-rules.js";
import {
  arrows,
  circles,
  imports,
  importsOf,
  matches,
  readSources,
  type Sources,
  strayArrows,
} from "./support/sources.js";

/** What a package may import beside its own files. */
const PEERS = /^(@bufbuild\/protobuf|@connectrpc\/connect)(\/|$)|^node:/;

const rules: readonly Rule[] = [
  {
    name: "no import cycles",
    findings: (sources) => circles(sources),
    defect: {
      "a.ts": 'import { b } from "./folder/b.js";',
      "folder/b.ts": 'import type { C } from "./c.js";',
      "folder/c.ts": 'export { a } from "../a.js";',
      "d.ts": 'import { a } from "./a.js";',
    },
    found: "a.ts → folder/b.ts → folder/c.ts → a.ts",
  },
  {
    name: "errors, call, uuid and the settings are leaves",
    findings: (sources) => arrows(sources, /^((errors|call|uuid)\.ts$|settings\/)/, /^(?!settings\/)/),
    defect: { "call.ts": 'import "./errors.js";', "errors.ts": 'import { Code } from "@connectrpc/connect";' },
    found: "call.ts → errors.ts",
  },
  {
    name: "generated code imports only generated code",
    findings: (sources) => arrows(sources, /^gen\//, /^(?!gen\/)/),
    defect: { "gen/a_pb.ts": 'import type { B } from "./b_pb";\nimport type { Call } from "../call.js";' },
    found: "gen/a_pb.ts → call.ts",
  },
  {
    name: "packages of the workspace are imported by their names",
    findings: (sources) => matches(sources, /^/, /["'](\.\.\/)+packages\//),
    defect: {
      "a.ts": 'import { Health } from "@cupo/connect-introspection";',
      "rpc/b.ts": 'import { createHealth } from "../../packages/connect-introspection/src/health.js";',
    },
    found: "rpc/b.ts:1",
  },
  {
    name: "scheduling and screening import no other folder",
    findings: (sources) => [
      ...arrows(sources, /^scheduling\//, /^(?!scheduling\/)/),
      ...arrows(sources, /^screening\//, /^(?!screening\/)/),
    ],
    defect: {
      "scheduling/slots.ts": 'import { time } from "./time.js";\nimport { iban } from "../screening/iban.js";',
    },
    found: "scheduling/slots.ts → screening/iban.ts",
  },
  {
    name: "rpc imports no other folder",
    findings: (sources) => arrows(sources, /^rpc\//, /^(?!rpc\/)/),
    defect: {
      "rpc/decode.ts": 'import { readString } from "@cupo/connect-rest/strict-json";',
      "rpc/handler.ts": 'import { problems } from "../interceptors/problems.js";',
    },
    found: "rpc/handler.ts → interceptors/problems.ts",
  },
  {
    name: "http imports only the types of requests and the errors",
    findings: (sources) => arrows(sources, /^http\//, /^(?!http\/|errors\.ts$|request-log\.ts$)/),
    defect: { "http/listen.ts": 'import { renderError } from "../listeners/public-api.js";' },
    found: "http/listen.ts → listeners/public-api.ts",
  },
  {
    name: "openapi imports neither services, database nor listeners",
    findings: (sources) =>
      arrows(sources, /^openapi\//, /^(services|postgres|http|jobs|demo|server|config|listeners)\b/),
    defect: { "openapi/a.ts": 'import "../rest/routes.js";\nimport "../demo/large-clinic.js";' },
    found: "openapi/a.ts → demo/large-clinic.ts",
  },
  {
    name: "only openapi imports connect-openapi",
    findings: (sources) => imports(sources, /^(?!openapi\/)/, /^@cupo\/connect-openapi(\/|$)/),
    defect: { "rest.ts": 'import "@cupo/connect-openapi";', "openapi/rest.ts": 'import "@cupo/connect-openapi";' },
    found: "rest.ts → @cupo/connect-openapi",
  },
  {
    name: "pages import only the errors and the types of requests",
    findings: (sources) => arrows(sources, /^pages\//, /^(?!pages\/|(errors|request-log)\.ts$)/),
    defect: { "pages/page.ts": 'import { renderError } from "../listeners/public-api.js";' },
    found: "pages/page.ts → listeners/public-api.ts",
  },
  {
    name: "reference-page imports only errors, pages, types of requests and the kinds of settings",
    findings: (sources) =>
      arrows(
        sources,
        /^reference-page\//,
        /^(?!reference-page\/|pages\/|(errors|request-log)\.ts$|settings\/setting-kinds\.ts$)/,
      ),
    defect: {
      "reference-page/page-html.ts": 'import { describeRest } from "../openapi/rest-document.js";',
      "reference-page/own-page.ts": 'import { isLoopback } from "../settings/setting-kinds.js";',
    },
    found: "reference-page/page-html.ts → openapi/rest-document.ts",
  },
  {
    name: "interceptors import neither transports, services nor database",
    findings: (sources) =>
      arrows(
        sources,
        /^interceptors\//,
        /^(services|postgres|rest|rpc|http|jobs|auth|quotas|server|config|open-|request-log|listeners)/,
      ),
    defect: { "interceptors/store.ts": 'import type {\n  A,\n  B,\n} from "../postgres/unit-of-work.js";' },
    found: "interceptors/store.ts → postgres/unit-of-work.ts",
  },
  {
    name: "quotas import nothing of the project but the rate limit that they implement",
    findings: (sources) => arrows(sources, /^quotas\//, /^(?!quotas\/|interceptors\/rate-limit\.ts$)/),
    defect: { "quotas/open.ts": 'import { openQuotaStore } from "../postgres/quota-windows.js";' },
    found: "quotas/open.ts → postgres/quota-windows.ts",
  },
  {
    name: "services import neither transports nor interceptors",
    findings: (sources) => arrows(sources, /^services\//, /^(rest|rpc|http|interceptors|auth|jobs|server|config)\b/),
    defect: { "services/a.ts": 'import { invoke } from "../rest/invoke.js";' },
    found: "services/a.ts → rest/invoke.ts",
  },
  {
    name: "postgres imports neither transports nor services",
    findings: (sources) => arrows(sources, /^postgres\//, /^(rest|rpc|http|services|auth|jobs|server|config)\b/),
    defect: {
      "postgres/patients.ts": 'import { toPatient } from "../services/patient-service.js";',
      "postgres/keys.ts": 'import type { Claim } from "../interceptors/idempotency.js";',
    },
    found: "postgres/patients.ts → services/patient-service.ts",
  },
  {
    name: "events imports neither transports nor services",
    findings: (sources) => arrows(sources, /^events\//, /^(rest|rpc|http|services|interceptors|auth|jobs|server)\b/),
    defect: { "events/event-hub.ts": 'import { toEvent } from "../services/events/event-messages.js";' },
    found: "events/event-hub.ts → services/events/event-messages.ts",
  },
  {
    name: "a folder of services imports only its allowed folders, and not services.ts",
    findings: (sources) => strayArrows(sources, "services", serviceRooms),
    defect: {
      "services/schedule/programs.ts": 'import { toAppointment } from "../appointments/appointment-messages.js";',
      "services/appointments/booking.ts": 'import { planSlots } from "../schedule/plan-slots.js";',
    },
    found: "services/appointments/booking.ts → services/schedule/plan-slots.ts",
  },
  {
    name: "a folder of tables imports only its allowed folders",
    findings: (sources) => strayArrows(sources, "postgres/tables", tableRooms),
    defect: {
      "postgres/tables/appointments/option-search.ts": 'import type { SlotRecord } from "../schedule/slots.js";',
      "postgres/tables/desk/waitlist.ts": 'import { patients } from "../patients/patients.js";',
    },
    found: "postgres/tables/desk/waitlist.ts → postgres/tables/patients/patients.ts",
  },
  {
    name: "the files directly in postgres import no tables",
    findings: (sources) => arrows(sources, /^postgres\/[^/]+$/, /^postgres\/tables\//),
    defect: {
      "postgres/unit-of-work.ts": 'import { insertPatient } from "./tables/patients/patients.js";',
      "postgres/tables/patients/patients.ts": 'import { sql } from "../../sql.js";',
    },
    found: "postgres/unit-of-work.ts → postgres/tables/patients/patients.ts",
  },
  {
    name: "services lock bookings through locks.ts only",
    findings: (sources) =>
      matches(
        sources,
        /^(services|jobs)\//,
        /\b(lockPatientOf|lockAppointment|lockSlots|lockFormerSlots|lockPractitioner|lockPractitionerOf|shareProgram|consumeToken|takeCapacity|requireCapacity)\b/,
      ),
    defect: {
      "services/a.ts": 'import { lockSlots } from "../postgres/tables/schedule/slot-locks.js";',
      "postgres/tables/locks.ts": 'import { lockSlots } from "./schedule/slots.js";',
    },
    found: "services/a.ts:1",
  },
  {
    name: "only the command line imports embedded-postgres, demo and doctor; embedded-postgres imports no other folder",
    findings: (sources) => [
      ...arrows(sources, /^embedded-postgres\//, /^(?!embedded-postgres\/)/),
      ...arrows(sources, /^(?!main\.ts$|command-line\/|embedded-postgres\/)/, /^embedded-postgres\//),
      ...arrows(sources, /^(?!main\.ts$|command-line\/|demo\/)/, /^demo\//),
      ...arrows(sources, /^(?!main\.ts$|command-line\/|doctor\/)/, /^doctor\//),
    ],
    defect: {
      "main.ts": 'import { fillDemo } from "./demo/fill-demo.js";',
      "server.ts": 'import { startEmbeddedPostgres } from "./embedded-postgres/start-embedded-postgres.js";',
    },
    found: "server.ts → embedded-postgres/start-embedded-postgres.ts",
  },
  {
    name: "only the command line imports server.ts, and nothing imports the command line",
    findings: (sources) => [
      ...arrows(sources, /^(?!main\.ts$|command-line\/)/, /^server\.ts$/),
      ...arrows(sources, /^(?!main\.ts$|command-line\/)/, /^(main\.ts$|command-line\/)/),
    ],
    defect: { "main.ts": 'await import("./server.js");', "jobs/purge.ts": 'const s = await import("../server.js");' },
    found: "jobs/purge.ts → server.ts",
  },
  {
    name: "only postgres imports SQL drivers and builders; call.ts imports their types",
    findings: (sources) => [
      ...imports(sources, /^(?!postgres\/|call\.ts$)/, /^(knex|pg)$/),
      ...matches(sources, /^call\.ts$/, /^import (?!type\b).*"(knex|pg)"/m),
    ],
    defect: {
      "services/a.ts": 'import knex from "knex";',
      "call.ts": 'import type { Knex } from "knex";',
      "postgres/sql.ts": 'import knex from "knex";',
    },
    found: "services/a.ts → knex",
  },
  {
    name: "no SQL text in services, interceptors, rules and transports",
    findings: (sources) =>
      matches(
        sources,
        /^(services|interceptors|scheduling|rest|rpc|http|auth)\//,
        /\b(SELECT|DELETE)\b[^"]*\bFROM\b|\bINSERT INTO\b|\bUPDATE\s+\w+\s+SET\b|\bSET LOCAL\b/,
      ),
    defect: { "services/a.ts": "raw(`SELECT *\n  FROM patients`)", "services/b.ts": '{ action: "UPDATE" }' },
    found: "services/a.ts:1",
  },
  {
    name: "only the command line reads the environment",
    findings: (sources) =>
      matches(sources, /^(?!main\.ts$|command-line\/)/, /\bprocess\s*(\?\.|\.|\[")\s*env\b|\benv\b.*"node:process"/),
    defect: { "auth/a.ts": "const a = 1;\nconst b = process.env;", "main.ts": "readConfig(process.env)" },
    found: "auth/a.ts:2",
  },
  ...formRules,
];

describe("the sources of the service:", () => {
  const sources = readSources(fileURLToPath(new URL("../src", import.meta.url)));

  test.each(rules)("$name", ({ findings }) => {
    expect(findings(sources)).toEqual([]);
  });

  test("the rules find imports at all", () => {
    const counts = Object.keys(sources).map((path) => importsOf(sources, path).length);
    expect(counts.reduce((sum, count) => sum + count)).toBeGreaterThan(counts.length);
    expect(importsOf(sources, "postgres/sql.ts")).toEqual(["knex"]);
  });

  test("the rules name existing files", () => {
    const missing = Object.keys(sources)
      .flatMap((path) => importsOf(sources, path))
      .filter((target) => target.endsWith(".ts") && sources[target] === undefined);
    expect(missing).toEqual([]);
  });

  test("docs/internals/architecture.md names every folder", () => {
    const page = readFileSync(new URL("../docs/internals/architecture.md", import.meta.url), "utf8");
    const folders = new Set(Object.keys(sources).flatMap((path) => /^[\w-]+\//.exec(path) ?? []));
    expect([...folders].filter((folder) => !page.includes(`\`${folder}`))).toEqual([]);
  });
});

describe("the packages of the workspace", () => {
  const sources = readSources(fileURLToPath(new URL("../packages", import.meta.url)));

  test("import only their own files, their peers and Node.js", () => {
    expect(strangers(sources)).toEqual([]);
  });

  test("must not import the service or each other", () => {
    const found = strangers({
      "one/src/a.ts": 'import "./b.js";\nimport "../../two/src/b.js";\nimport "@cupo/two";',
      "one/src/b.ts": 'import "../../../src/call.js";\nimport "@bufbuild/protobuf/wkt";\nimport "pino";',
      "one/test/a.test.ts": 'import "vitest";',
    });
    expect(found).toEqual([
      "one/src/a.ts → two/src/b.ts",
      "one/src/a.ts → @cupo/two",
      "one/src/b.ts → ../src/call.ts",
      "one/src/b.ts → pino",
    ]);
  });
});

function strangers(sources: Sources): string[] {
  return Object.keys(sources)
    .filter((path) => /^[^/]+\/src\//.test(path))
    .flatMap((path) =>
      importsOf(sources, path)
        .filter((target) => !target.startsWith(`${path.split("/")[0]}/src/`) && !PEERS.test(target))
        .map((target) => `${path} → ${target}`),
    );
}

describe("a seeded violation is found:", () => {
  test.each(rules)("$name", ({ findings, defect, found }) => {
    expect(findings(defect)).toEqual([found]);
  });
});
