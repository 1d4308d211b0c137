import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Needs no database, and uses a package of the workspace. */
const TEST = "test/interceptors/validation/text-rules.test.ts";

/** A program that runs one test file as the runs of mutants do. Prints its state and the loaded files of packages. */
const program = `
  import { openVitest } from "./scripts/mutations/open-vitest.mjs";
  const vitest = await openVitest({ include: [${JSON.stringify(TEST)}], globalSetup: [] });
  const { testModules } = await vitest.runTestSpecifications(await vitest.globTestSpecifications());
  const environments = vitest.projects.flatMap(({ vite }) => Object.values(vite.environments));
  const loaded = environments.flatMap(({ moduleGraph }) => Array.from(moduleGraph.idToModuleMap.keys()));
  await vitest.close();
  const states = testModules.map((module) => module.state());
  console.log(JSON.stringify({ states, packaged: loaded.filter((path) => path.includes("/packages/")) }));
  process.exitCode = 0;`;

test("a run of mutants uses the packages from their sources, as vitest.config.ts does", async () => {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("VITEST")));
  const parameters = ["--input-type=module", "--eval", program];
  const { stdout } = await promisify(execFile)(process.execPath, parameters, { cwd: root, env });
  const { states, packaged } = JSON.parse(stdout) as { states: string[]; packaged: string[] };
  expect(states).toEqual(["passed"]);
  expect(packaged.length).toBeGreaterThan(0);
  expect(packaged.filter((path) => !/\/packages\/[^/]+\/src\//.test(path))).toEqual([]);
});
