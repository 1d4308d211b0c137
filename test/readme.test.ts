import { existsSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KEY_RETENTION_HOURS } from "../src/interceptors/idempotency.js";
import { idempotencyKeyForm } from "../src/interceptors/request-headers.js";
import { messageLimits } from "../src/listeners/listener-constants.js";
import { pageSizeOf } from "../src/services/resources/pages.js";
import { settings } from "../src/settings/settings.js";
import { commandsOf, openPageShell, type PageShell } from "./support/page-commands.js";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const commands = commandsOf("README.md");
/** Each command loads the definitions again, which takes a second on a busy machine. */
const SCRIPT_MS = 120_000;

const runHere = { call: "Call it", booking: "Book an appointment, and move it" } as const;
/** Sections whose commands are not run here, and the reason. */
const runElsewhere: Readonly<Record<string, string>> = {
  "Run it": "installs and starts for good; main.test.ts runs what is started",
  "Test it": "is what runs this",
};

let shell: PageShell;

beforeAll(async () => {
  shell = await openPageShell();
}, SCRIPT_MS);

afterAll(() => shell.close());

describe("the unchanged commands of the README", () => {
  test("are run here, section by section, or have a reason", () => {
    const known = [...Object.values(runHere), ...Object.keys(runElsewhere)];
    expect(new Set(commands.keys())).toEqual(new Set(known));
    for (const reason of Object.values(runElsewhere)) {
      for (const [file] of reason.matchAll(/\S+\.test\.ts/g)) {
        expect(existsSync(new URL(file, import.meta.url))).toBe(true);
      }
    }
  });

  test(
    "register a patient over REST and another over gRPC; repeated, the first is a replay, and after unset KEY a conflict",
    async () => {
      const [overRest = "", ...others] = commands.get(runHere.call) ?? [];
      const printed = await shell.run([overRest, overRest, "unset KEY", overRest, ...others]);
      expect(Array.from(printed.matchAll(/HTTP\/1\.1 (\d+) /g), ([, status]) => status)).toEqual(["201", "201", "409"]);
      const [, first, second, third] = printed.split("HTTP/1.1 ");
      for (const answer of [first, second]) expect(answer).toContain('"documentNumber":"1032456789"');
      expect([first, second, third].map((answer) => /^idempotent-replayed: true\r?$/im.test(`${answer}`))).toEqual([
        false,
        true,
        false,
      ]);
      expect(printed).toMatch(/"documentNumber": *"52345678"/);
    },
    SCRIPT_MS,
  );

  test(
    "search, book, read, move and cancel an appointment by curl alone, and follow the events",
    async () => {
      const printed = await shell.run(["TOKEN=$(npm run --silent token)", ...(commands.get(runHere.booking) ?? [])]);
      const [id = ""] = /(?<="appointmentId":")[\da-f-]{36}/.exec(printed) ?? [];
      const [changes = "", ...events] = printed.split("data: ");
      expect(Array.from(changes.matchAll(/"status":"(\w+)"/g), ([, status]) => status)).toEqual([
        "PENDING",
        "PENDING",
        "CANCELLED",
      ]);
      expect(Array.from(changes.matchAll(/"version":(\d)/g), ([, version]) => version)).toEqual(["1", "2", "3"]);
      const types = Array.from(events.join("").matchAll(/\{[^{}]*\}/g), ([event]) => event).filter((event) =>
        event.includes(id),
      );
      expect(types.map((event) => /cupo\.appointment\.\w+/.exec(event)?.[0])).toEqual([
        "cupo.appointment.created",
        "cupo.appointment.updated",
        "cupo.appointment.updated",
      ]);
    },
    SCRIPT_MS,
  );
});

describe("README", () => {
  test("names existing files and folders", () => {
    const links = Array.from(readme.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g), ([, path]) => String(path));
    const paths = Array.from(readme.matchAll(/`((?:src|proto|test|docs|examples)\/[\w./-]*)`/g), ([, path]) =>
      String(path),
    );
    expect([...links, ...paths].filter((path) => !existsSync(new URL(`../${path}`, import.meta.url)))).toEqual([]);
    expect(links.length).toBeGreaterThan(20);
  });

  test("states the limits of the service", () => {
    const { perMinute, perSecond } = settings;
    for (const limit of [
      `1 to ${idempotencyKeyForm.maxLength} visible ASCII characters`,
      `valid for ${KEY_RETENTION_HOURS} hours`,
      `\`pageSize\` is ${pageSizeOf({ pageSize: 0 })} by default and ${pageSizeOf({ pageSize: 10_000 })} at most`,
      `${perMinute.defaultText} requests a minute and ${perSecond.defaultText} a second`,
      `bodies up to ${messageLimits.maxBodyBytes / 1_024} KiB`,
    ]) {
      expect(readme).toContain(limit);
    }
  });

  test("starts with ten settings and states their defaults", () => {
    const [, section = ""] = readme.split("\n## Configure it\n");
    const rows = Array.from((section.split("\n## ")[0] ?? "").matchAll(/^\| `([A-Z_]+)` \| (.*) \|$/gm));
    expect(rows).toHaveLength(10);
    const byName = new Map<string, string | undefined>();
    for (const { name, defaultText } of Object.values(settings) as { name: string; defaultText?: string }[]) {
      byName.set(name, defaultText);
    }
    for (const [, name = "", meaning = ""] of rows) {
      expect(byName.has(name), name).toBe(true);
      for (const [, other = ""] of meaning.matchAll(/`([A-Z_]{4,})`/g)) expect(byName.has(other), other).toBe(true);
      const stated = Array.from(meaning.matchAll(/(?:`([A-Z_]+)` )?\(([\d.]+)\)/g));
      for (const [, other = name, value] of stated) expect(byName.get(other), other).toBe(value);
    }
  });
});
