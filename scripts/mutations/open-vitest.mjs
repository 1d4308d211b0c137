import { createVitest } from "vitest/node";

const TEST_MS = 120_000;
/** As in vitest.config.ts: the packages of the workspace are used from their sources. */
const resolve = { conditions: ["source", "node", "development|production"] };

/**
 * Opens Vitest with vitest.config.ts as one project, without tests that mock modules. Adds `settings` to Vitest's and
 * `plugins` to Vite's.
 */
export function openVitest(settings, plugins = []) {
  const base = {
    config: false,
    watch: false,
    passWithNoTests: true,
    include: ["test/**/*.test.ts"],
    exclude: ["test/gen/**", "test/**/*-defects.test.ts"],
    setupFiles: ["test/support/begin-file.ts"],
    globalSetup: "test/support/global-setup.ts",
    pool: "forks",
    isolate: false,
    maxWorkers: 2,
    testTimeout: TEST_MS,
    hookTimeout: TEST_MS,
    reporters: [{}],
  };
  return createVitest("test", { ...base, ...settings }, { plugins, resolve, ssr: { resolve }, logLevel: "silent" });
}
