import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

const TIMEOUT_MS = 30_000;
/** Test files mostly wait for the database, so that two share a core well; more than four would only queue there. */
const MAX_WORKERS = 4;

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/gen/**"],
    globalSetup: "test/support/global-setup.ts",
    pool: "forks",
    maxWorkers: Math.min(MAX_WORKERS, Math.max(2, availableParallelism())),
    testTimeout: TIMEOUT_MS,
    hookTimeout: TIMEOUT_MS,
    teardownTimeout: TIMEOUT_MS,
  },
});
