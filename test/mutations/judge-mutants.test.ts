import { execFile } from "node:child_process";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

const files: Readonly<Record<string, string>> = {
  "src/is-over.ts": "export const isOver = (count: number) => count > 3;",
  "src/count-up.ts": "export function countUp() { let n = 0; while (n < 3) n++; return n; }",
  "test/both.test.ts": `
    import { expect, test } from "vitest";
    import { countUp } from "../src/count-up.js";
    import { isOver } from "../src/is-over.js";
    test("3 is not over 3", () => expect(isOver(3)).toBe(false));
    test("counts to 3", () => expect(countUp()).toBe(3));`,
  "test/fails.test.ts": 'import { expect, test } from "vitest"; test("fails", () => expect(1).toBe(2));',
};

const both = ["test/both.test.ts"];
const fatal = { file: "src/is-over.ts", from: ">", to: ">=", tests: both };
const harmless = { file: "src/count-up.ts", from: "n < 3", to: "n <  3", tests: both };
const endless = { file: "src/count-up.ts", from: "n++", to: ";", tests: both };

let folder: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs one judge on several mutants in turn. Returns their outcomes. */
async function outcomesOf(...mutants: readonly (typeof fatal)[]): Promise<unknown> {
  const parameters = [join(root, "test/mutations/judge-sample.mjs"), folder, JSON.stringify(mutants)];
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("VITEST")));
  const { stdout } = await promisify(execFile)(process.execPath, parameters, { cwd: root, env });
  return JSON.parse(stdout);
}

describe("a mutant", () => {
  test("is judged independently: a harmless one survives after one that was caught", async () => {
    expect(await outcomesOf(fatal, harmless, fatal, endless, harmless)).toEqual([
      "caught",
      "survived",
      "caught",
      "caught",
      "survived",
    ]);
  });

  test("is not caught by a test that also fails without it", async () => {
    const fails = ["test/fails.test.ts"];
    expect(
      await outcomesOf(
        { ...harmless, tests: fails },
        { ...harmless, tests: [...fails, ...both] },
        { ...fatal, tests: [...fails, ...both] },
        { ...fatal, tests: [] },
      ),
    ).toEqual(["survived", "survived", "caught", "not covered"]);
  });
});
