import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { describe, expect, test } from "vitest";
import { readConfig } from "../src/settings/config.js";
import type { Setting } from "../src/settings/setting-kinds.js";
import { settings } from "../src/settings/settings.js";
import { readTelemetryConfig } from "../src/telemetry/telemetry-config.js";

const example = read("../.env.example");
const page = read("../docs/reference/settings.md");
const all: readonly Setting<unknown>[] = Object.values(settings);

describe(".env.example", () => {
  const [, ...blocks] = example.trimEnd().split("\n\n");

  test("has every setting, commented out, with its description, valid values and default", () => {
    expect(blocks.map(unwrapped)).toEqual(
      all.map(({ name, about, takes, defaultText }) => [
        `${about} Takes ${takes}.${defaultText === undefined ? "" : ` Default: ${defaultText}`}`,
        `#${name}=${defaultText ?? ""}`,
      ]),
    );
  });

  test("gives the defaults if everything is uncommented", () => {
    const environment = parseEnv(example.replace(/^#(?=[A-Z])/gm, ""));
    expect(Object.keys(environment)).toHaveLength(all.length);
    expect(readConfig(environment)).toEqual(readConfig({}));
  });
});

describe("docs/reference/settings.md", () => {
  const rows = page.split("\n").filter((line) => line.startsWith("| `"));

  test("has a row for every setting, in the same order, with its default, valid values and description", () => {
    expect(rows.filter((row) => !row.includes("`OTEL_"))).toEqual(all.map(rowOf));
  });

  test("has every OpenTelemetry variable that the service reads, with its default", () => {
    const telemetry = rows.filter((row) => row.includes("`OTEL_")).join("\n");
    const names = variablesRead();
    expect(names.length).toBeGreaterThan(8);
    for (const name of names) expect(telemetry).toContain(`\`${name}\``);
    const { metrics } = readTelemetryConfig({ OTEL_METRICS_EXPORTER: "otlp" });
    expect(telemetry).toContain(`| \`OTEL_METRIC_EXPORT_INTERVAL\` | \`${metrics?.everyMs}\` |`);
    expect(telemetry).toContain(`| \`OTEL_EXPORTER_OTLP_PROTOCOL\` | \`${metrics?.protocol}\` |`);
  });
});

function read(path: string): string {
  return readFileSync(new URL(path, import.meta.url), "utf8");
}

/** Returns the comment of a block as one line, and the line after it. */
function unwrapped(block: string): string[] {
  const lines = block.split("\n");
  const comment = lines.slice(0, -1).map((line) => line.replace(/^# /, ""));
  return [comment.join(" "), lines.at(-1) ?? ""];
}

function rowOf({ name, about, takes, defaultText }: Setting<unknown>): string {
  const limits = takes.replace(/^a whole number (?:of (\w+) )?from (\d+) to (\d+)$/, "$2 to $3 $1").trim();
  return `| \`${name}\` |${defaultText === undefined ? "" : ` \`${defaultText}\``} | ${limits} | ${about} |`;
}

/** Returns the environment variables that the service reads if both signals are enabled. */
function variablesRead(): string[] {
  const names = new Set<string>();
  const set: Readonly<Record<string, string>> = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4318" };
  const environment = new Proxy(set, {
    get(held, name) {
      names.add(String(name));
      return Reflect.get(held, name);
    },
  });
  readTelemetryConfig(environment);
  return [...names];
}
