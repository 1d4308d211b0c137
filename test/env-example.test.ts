import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { describe, expect, test } from "vitest";
import { readConfig } from "../src/settings/config.js";
import type { Setting } from "../src/settings/setting-kinds.js";
import { settings } from "../src/settings/settings.js";

const example = readFileSync(new URL("../.env.example", import.meta.url), "utf8");
const all: readonly Setting<unknown>[] = Object.values(settings);

describe(".env.example", () => {
  const [, ...blocks] = example.trimEnd().split("\n\n");

  test("has every setting, commented out, with its sentence, what it takes and its default", () => {
    expect(blocks.map(unwrapped)).toEqual(
      all.map(({ name, about, takes, defaultText }) => [
        `${about} Takes ${takes}.${defaultText === undefined ? "" : ` Default: ${defaultText}`}`,
        `#${name}=${defaultText ?? ""}`,
      ]),
    );
  });

  test("means the defaults where all of it is uncommented", () => {
    const environment = parseEnv(example.replace(/^#(?=[A-Z])/gm, ""));
    expect(Object.keys(environment)).toHaveLength(all.length);
    expect(readConfig(environment)).toEqual(readConfig({}));
  });
});

/** The comment of a block as one line, and the line below it. */
function unwrapped(block: string): string[] {
  const lines = block.split("\n");
  const comment = lines.slice(0, -1).map((line) => line.replace(/^# /, ""));
  return [comment.join(" "), lines.at(-1) ?? ""];
}
