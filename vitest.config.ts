import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const TIMEOUT_MS = 120_000;
/**
 * The most worker processes, of which there is one more than cores: tests that start processes wait for them. More than
 * four would only wait for the database.
 */
const MAX_WORKERS = 4;
/**
 * Tests with `vi.mock`, which show that the storm and the simulation detect seeded defects. Each needs a process of its
 * own, or other files would get the mocked modules.
 */
const REPLACES_MODULES = ["test/schedule/storm-defects.test.ts", "test/simulation/simulation-defects.test.ts"];
/** Tests that kill a server of the Citus cluster. They run last, because other tests share the cluster. */
const KILLS_SERVERS = ["test/citus/worker-killed.test.ts"];

/**
 * Tests that take about ten seconds or more because of their volume: plans of large tables, storms, random commands,
 * migrations of full tables, the table of RPC conformance, the linter of the OpenAPI documents.
 */
const VOLUME = [
  "test/command-line/failed-migration.test.ts",
  "test/demo/moments.test.ts",
  "test/hostile/{fuzz,marker-words}.test.ts",
  "test/jobs/{summarize-waits,time-events-moves}.test.ts",
  "test/openapi/lint.test.ts",
  "test/postgres/{list-plans,partition-migration,resource-pages,schedule-plans,statement-tenants}.test.ts",
  "test/rpc/conformance/*.test.ts",
  "test/schedule/{hold-rush,last-unit,never-analysed,storm,visit-storm}.test.ts",
  "test/simulation/simulation.test.ts",
  "test/webhooks/stale-reminders.test.ts",
];

/** Tests that start, kill or compile other programs, such as processes of the service, poolers and browsers. */
const PROGRAMS = [
  "test/{citus,embedded-postgres,examples,faults,mutations,packages,stubs}/**/*.test.ts",
  "test/deploy/{backup,compose,image,reverse-proxy}.test.ts",
  "test/hostile/unread-answers.test.ts",
  "test/http/browser-calls.test.ts",
  "test/import/import-killed.test.ts",
  "test/introspection/stock-client.test.ts",
  "test/postgres/replica-reads.test.ts",
  "test/proto-export/*.test.ts",
  "test/reference-page/reference-page.test.ts",
  "test/telemetry/prometheus.test.ts",
  "test/{main,npm-start}.test.ts",
  "test/events/pooler.test.ts",
];

const LONG = [...PROGRAMS, ...VOLUME];

/** Files that take longest. They start early, so that no worker is idle at the end of a run. */
const LONGEST = new RegExp(
  "/test/(?:deploy/reverse-proxy|examples/examples|faults/(?:(?:webhook-)?kill-storm|previous-release|replicas)|" +
    "hostile/unread-answers|jobs/summarize-waits|reference-page/reference-page|webhooks/stale-reminders)",
);

class LongFirst extends BaseSequencer {
  /**
   * Sorts files as Vitest does, with two exceptions. Files with their own process come first, because a worker that runs
   * one of them ends its shared process. The slowest files come next.
   */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification) =>
      project.config.isolate ? 0 : LONGEST.test(moduleId) ? 1 : 2;
    const sortAsUsual = super.sort.bind(this);
    return (await sortAsUsual(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

/** Removes a variable of libfaketime, with which `npm run test:clock` runs: see test/support/begin-file.ts. */
delete process.env["FAKETIME_SHARED"];

/** The packages of the workspace are tested, and used by the service's tests, from their sources. */
const conditions = ["source", "node", "development|production"];
const resolve = { conditions };
const fromSource = { resolve, ssr: { resolve } };

/** Absolute, because `npm test -w` starts in the folder of a package. */
const packagesFolder = fileURLToPath(new URL("packages", import.meta.url));

/** Each package has its own project, so that its tests run alone. */
const PACKAGES = readdirSync(packagesFolder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

const common = {
  setupFiles: ["test/support/begin-file.ts"],
  pool: "forks" as const,
  testTimeout: TIMEOUT_MS,
  hookTimeout: TIMEOUT_MS,
  teardownTimeout: TIMEOUT_MS,
};

/**
 * `npm test` runs the project "inner" and those of the packages, `npm run test:long` the projects "isolated" and "long".
 * The project "last" needs a Citus cluster. A single file can be run by its path.
 *
 * Files share a few processes, so that each process imports the service only once. So a file must restore modules and
 * `process.env`.
 */
export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
    globalSetup: "test/support/global-setup.ts",
    maxWorkers: Math.min(MAX_WORKERS, availableParallelism() + 1),
    /** Keeps compiled modules between runs, by their content. */
    experimental: { fsModuleCache: true },
    projects: [
      {
        ...fromSource,
        test: {
          ...common,
          name: "inner",
          include: ["test/**/*.test.ts"],
          exclude: ["test/gen/**", ...REPLACES_MODULES, ...LONG],
          isolate: false,
        },
      },
      {
        ...fromSource,
        test: { ...common, name: "long", include: LONG, exclude: KILLS_SERVERS, isolate: false },
      },
      ...PACKAGES.map((name) => ({
        resolve,
        ssr: { resolve },
        test: {
          name,
          root: `${packagesFolder}/${name}`,
          include: ["test/**/*.test.ts"],
          isolate: false,
          pool: "forks" as const,
          testTimeout: TIMEOUT_MS,
          hookTimeout: TIMEOUT_MS,
        },
      })),
      { ...fromSource, test: { ...common, name: "isolated", include: REPLACES_MODULES } },
      { ...fromSource, test: { ...common, name: "last", include: KILLS_SERVERS, sequence: { groupOrder: 1 } } },
    ],
  },
});
