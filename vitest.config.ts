import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

const TIMEOUT_MS = 120_000;
/** Test files mostly wait for the database, so that two share a core well; more than four would only queue there. */
const MAX_WORKERS = 4;
/** What replaces modules of the service, which no other file may see. */
const REPLACES_MODULES = ["test/schedule/storm-defects.test.ts", "test/simulation/simulation-defects.test.ts"];

/** libfaketime, where `npm run test:clock` has it: see test/support/begin-file.ts. */
delete process.env["FAKETIME_SHARED"];

const common = {
  setupFiles: ["test/support/begin-file.ts"],
  pool: "forks" as const,
  testTimeout: TIMEOUT_MS,
  hookTimeout: TIMEOUT_MS,
  teardownTimeout: TIMEOUT_MS,
};

/**
 * The files share a few processes, which import the service once instead of once for each file: so nothing may be left
 * behind in a module or in `process.env`.
 */
export default defineConfig({
  test: {
    globalSetup: "test/support/global-setup.ts",
    maxWorkers: Math.min(MAX_WORKERS, Math.max(2, availableParallelism())),
    projects: [
      {
        test: {
          ...common,
          name: "shared",
          include: ["test/**/*.test.ts"],
          exclude: ["test/gen/**", ...REPLACES_MODULES],
          isolate: false,
        },
      },
      { test: { ...common, name: "isolated", include: REPLACES_MODULES } },
    ],
  },
});
