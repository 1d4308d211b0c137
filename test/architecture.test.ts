import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { serviceRooms, tableRooms } from "./support/rooms.js";
import {
  arrows,
  circles,
  crowdedFolders,
  imports,
  importsOf,
  matches,
  named,
  readSources,
  type Sources,
  strayArrows,
} from "./support/sources.js";

/** A rule about sources: gives a line for each place that breaks it. */
interface Rule {
  readonly name: string;
  readonly findings: (sources: Sources) => string[];
  /** Sources with one thing that is wrong, which the rule must find, beside others that it must let pass. */
  readonly defect: Sources;
  readonly found: string;
}

const MAX_LINES = 220;
const MAX_FILES = 20;

const rules: readonly Rule[] = [
  {
    name: "no imports in a circle",
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
    name: "scheduling and screening import nothing of the project",
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
    name: "rest imports nothing of the project but google.api",
    findings: (sources) => arrows(sources, /^rest\//, /^(?!rest\/|gen\/google\/)/),
    defect: {
      "rest/http-rule.ts": 'import { http } from "../gen/google/api/annotations_pb.js";',
      "rest/render.ts": 'import { operation } from "../gen/cupo/options/v1/options_pb.js";',
    },
    found: "rest/render.ts → gen/cupo/options/v1/options_pb.ts",
  },
  {
    name: "rpc imports nothing of the project but what REST is made of",
    findings: (sources) => arrows(sources, /^rpc\//, /^(?!rpc\/|rest\/)/),
    defect: {
      "rpc/decode.ts": 'import { readJson } from "../rest/read-json.js";',
      "rpc/handler.ts": 'import { problems } from "../interceptors/problems.js";',
    },
    found: "rpc/handler.ts → interceptors/problems.ts",
  },
  {
    name: "http imports nothing of the project but the types of its requests and the errors",
    findings: (sources) => arrows(sources, /^http\//, /^(?!http\/|errors\.ts$|request-log\.ts$)/),
    defect: { "http/listen.ts": 'import { renderError } from "../public-api.js";' },
    found: "http/listen.ts → public-api.ts",
  },
  {
    name: "openapi knows neither services nor the database nor the listeners",
    findings: (sources) =>
      arrows(sources, /^openapi\//, /^(services|postgres|http|jobs|demo|server|config|public-api|internal-api)\b/),
    defect: { "openapi/a.ts": 'import "../rest/routes.js";\nimport "../demo/large-clinic.js";' },
    found: "openapi/a.ts → demo/large-clinic.ts",
  },
  {
    name: "reference-page imports nothing of the project but errors, types of requests and what a loopback address is",
    findings: (sources) =>
      arrows(
        sources,
        /^reference-page\//,
        /^(?!reference-page\/|(errors|entity-tags|request-log)\.ts$|settings\/setting-kinds\.ts$)/,
      ),
    defect: {
      "reference-page/page-html.ts": 'import { describeRest } from "../openapi/rest-document.js";',
      "reference-page/own-page.ts": 'import { isLoopback } from "../settings/setting-kinds.js";',
    },
    found: "reference-page/page-html.ts → openapi/rest-document.ts",
  },
  {
    name: "interceptors know neither transports nor services nor the database",
    findings: (sources) =>
      arrows(sources, /^interceptors\//, /^(services|postgres|rest|rpc|http|jobs|auth|server|config)\b/),
    defect: { "interceptors/store.ts": 'import type {\n  A,\n  B,\n} from "../postgres/unit-of-work.js";' },
    found: "interceptors/store.ts → postgres/unit-of-work.ts",
  },
  {
    name: "services know neither transports nor interceptors",
    findings: (sources) => arrows(sources, /^services\//, /^(rest|rpc|http|interceptors|auth|jobs|server|config)\b/),
    defect: { "services/a.ts": 'import { invoke } from "../rest/invoke.js";' },
    found: "services/a.ts → rest/invoke.ts",
  },
  {
    name: "postgres knows neither transports nor services",
    findings: (sources) => arrows(sources, /^postgres\//, /^(rest|rpc|http|services|auth|jobs|server|config)\b/),
    defect: {
      "postgres/patients.ts": 'import { toPatient } from "../services/patient-service.js";',
      "postgres/keys.ts": 'import type { Claim } from "../interceptors/idempotency.js";',
    },
    found: "postgres/patients.ts → services/patient-service.ts",
  },
  {
    name: "feeds of events that know neither transports nor services",
    findings: (sources) => arrows(sources, /^events\//, /^(rest|rpc|http|services|interceptors|auth|jobs|server)\b/),
    defect: { "events/event-hub.ts": 'import { toEvent } from "../services/events/event-messages.js";' },
    found: "events/event-hub.ts → services/events/event-messages.ts",
  },
  {
    name: "rooms of services that import only those they build on, and not the list of all",
    findings: (sources) => strayArrows(sources, "services", serviceRooms),
    defect: {
      "services/schedule/programs.ts": 'import { toAppointment } from "../appointments/appointment-messages.js";',
      "services/appointments/booking.ts": 'import { planSlots } from "../schedule/plan-slots.js";',
    },
    found: "services/appointments/booking.ts → services/schedule/plan-slots.ts",
  },
  {
    name: "rooms of tables that import only those they build on",
    findings: (sources) => strayArrows(sources, "postgres/tables", tableRooms),
    defect: {
      "postgres/tables/appointments/option-search.ts": 'import type { SlotRecord } from "../schedule/slots.js";',
      "postgres/tables/desk/waitlist.ts": 'import { patients } from "../patients/patients.js";',
    },
    found: "postgres/tables/desk/waitlist.ts → postgres/tables/patients/patients.ts",
  },
  {
    name: "an engine of postgres that knows none of its tables",
    findings: (sources) => arrows(sources, /^postgres\/[^/]+$/, /^postgres\/tables\//),
    defect: {
      "postgres/unit-of-work.ts": 'import { insertPatient } from "./tables/patients/patients.js";',
      "postgres/tables/patients/patients.ts": 'import { sql } from "../../sql.js";',
    },
    found: "postgres/unit-of-work.ts → postgres/tables/patients/patients.ts",
  },
  {
    name: "one place where services lock what bookings share",
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
    name: "an embedded server that knows nothing of the project, a demo and a doctor, imported by the command line alone",
    findings: (sources) => [
      ...arrows(sources, /^embedded-postgres\//, /^(?!embedded-postgres\/)/),
      ...arrows(sources, /^(?!main\.ts$|embedded-postgres\/)/, /^embedded-postgres\//),
      ...arrows(sources, /^(?!main\.ts$|demo\/)/, /^demo\//),
      ...arrows(sources, /^(?!main\.ts$|doctor\/)/, /^doctor\//),
    ],
    defect: {
      "main.ts": 'import { fillDemo } from "./demo/fill-demo.js";',
      "server.ts": 'import { startEmbeddedPostgres } from "./embedded-postgres/start-embedded-postgres.js";',
    },
    found: "server.ts → embedded-postgres/start-embedded-postgres.ts",
  },
  {
    name: "only the command line imports the composition, nothing imports the command line",
    findings: (sources) => [
      ...arrows(sources, /^(?!main\.ts$)/, /^server\.ts$/),
      ...arrows(sources, /^(?!main\.ts$|command-line\/)/, /^(main\.ts$|command-line\/)/),
    ],
    defect: { "main.ts": 'await import("./server.js");', "jobs/purge.ts": 'const s = await import("../server.js");' },
    found: "jobs/purge.ts → server.ts",
  },
  {
    name: "only postgres has drivers and builders of SQL; call has the type of a statement",
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
  {
    name: "no default exports",
    findings: (sources) => matches(sources, /^(?!gen\/)/, /^export default\b|\bas default\b/m),
    defect: { "a.ts": "/** A. */\nexport default function a() {}" },
    found: "a.ts:2",
  },
  {
    name: "no file passes the exports of others on",
    findings: (sources) => [
      ...matches(sources, /^(?!gen\/)/, /^export\s*(type\s*)?(\*|\{[^}]*\}\s*from\b)/m),
      ...named(sources, /(^|\/)index\.ts$/),
    ],
    defect: { "rest/all.ts": 'export {\n  a,\n} from "./a.js";', "rest/b.ts": "export { a, b };" },
    found: "rest/all.ts:1",
  },
  {
    name: "no file for things that belong nowhere",
    findings: (sources) => named(sources, /(^|\/)(utils?|helpers?|common|types|misc|shared)(\.ts$|\/)/),
    defect: { "rest/utils.ts": "", "rest/message-types.ts": "" },
    found: "rest/utils.ts",
  },
  {
    name: "kebab-case names, in at most three folders below src",
    findings: (sources) => named(sources, /^(?!gen\/)(?!([a-z]+(-[a-z]+)*\/){0,3}[a-z0-9]+(-[a-z0-9]+)*(\.d)?\.ts$)/),
    defect: { "a/b/c/d/read.ts": "", "a/b/c/read-json.ts": "" },
    found: "a/b/c/d/read.ts",
  },
  {
    name: `folders of at most ${MAX_FILES} files`,
    findings: (sources) => crowdedFolders(sources, MAX_FILES),
    defect: Object.fromEntries(
      Array.from({ length: MAX_FILES + 1 }, (_, i) => [
        [`a/${i}.ts`, ""],
        [`b/${i % MAX_FILES}.ts`, ""],
      ]).flat(),
    ),
    found: "a",
  },
  {
    name: `files of at most ${MAX_LINES} lines`,
    findings: (sources) =>
      named(sources, /^(?!gen\/)/).filter((path) => (sources[path] ?? "").trimEnd().split("\n").length > MAX_LINES),
    defect: { "a.ts": "x;\n".repeat(MAX_LINES + 1), "b.ts": "x;\n".repeat(MAX_LINES) },
    found: "a.ts",
  },
];

describe("the sources of the service have", () => {
  const sources = readSources(fileURLToPath(new URL("../src", import.meta.url)));

  test.each(rules)("$name", ({ findings }) => {
    expect(findings(sources)).toEqual([]);
  });

  test("imports that are found at all", () => {
    const counts = Object.keys(sources).map((path) => importsOf(sources, path).length);
    expect(counts.reduce((sum, count) => sum + count)).toBeGreaterThan(counts.length);
    expect(importsOf(sources, "postgres/sql.ts")).toEqual(["knex"]);
  });

  test("only files to import", () => {
    const missing = Object.keys(sources)
      .flatMap((path) => importsOf(sources, path))
      .filter((target) => target.endsWith(".ts") && sources[target] === undefined);
    expect(missing).toEqual([]);
  });
});

describe("a seeded defect is found:", () => {
  test.each(rules)("$name", ({ findings, defect, found }) => {
    expect(findings(defect)).toEqual([found]);
  });
});
