import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withDocumentedIds } from "../src/demo/documented-ids.js";
import { fillDemo } from "../src/demo/fill-demo.js";
import { DEMO_TENANT_ID } from "../src/demo/large-clinic.js";
import { smallClinic } from "../src/demo/small-clinic.js";
import { startTestService, type TestService } from "./support/service.js";
import type { TokenFor } from "./support/tokens.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");
/** Each command of a script loads the definitions anew, which takes a second where the machine is busy. */
const SCRIPT_MS = 120_000;

const runHere = {
  call: "Call it",
  tenants: "The demo tenants",
  booking: "Book an appointment, and move it",
  events: "Follow what changes",
} as const;
/** Sections whose commands are not run here, and why. */
const runElsewhere: Readonly<Record<string, string>> = {
  "Run it": "installs and starts for good; main.test.ts runs what is started",
  "Test it": "is what runs this",
  "Deploy it": "needs client programs and a superuser of PostgreSQL; postgres/service-role.test.ts parts the roles so",
};

let service: TestService;

beforeAll(async () => {
  service = await startTestService({}, { served: withDocumentedIds });
  const issuer = { sign: (request: TokenFor) => service.token(request) };
  const signal = new AbortController().signal;
  const { internalUrl, now } = service;
  await fillDemo({ internalUrl, issuer, now, signal, onProgress: () => undefined });
}, SCRIPT_MS);

afterAll(() => service.close());

describe("README's commands, as they stand,", () => {
  test("are run here, section by section, or elsewhere", () => {
    const sections = readme.split("\n## ").filter((section) => /^```sh\n/m.test(section));
    const titles = sections.map((section) => section.split("\n")[0]);
    const known = [...Object.values(runHere), ...Object.keys(runElsewhere)];
    expect(new Set(titles)).toEqual(new Set(known));
    for (const reason of Object.values(runElsewhere)) {
      for (const [file] of reason.matchAll(/\S+\.test\.ts/g)) expect(existsSync(join(root, "test", file))).toBe(true);
    }
  });

  test("name only files and folders that are there", () => {
    const links = Array.from(readme.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g), ([, path]) => String(path));
    const rooms = Array.from(readme.matchAll(/`((?:src|proto|test|docs|examples)\/[\w./-]*)`/g), ([, path]) =>
      String(path),
    );
    expect([...links, ...rooms].filter((path) => !existsSync(join(root, path)))).toEqual([]);
    expect(Math.min(links.length, rooms.length)).toBeGreaterThan(5);
  });

  test(
    "register a patient over REST and another over gRPC",
    async () => {
      const printed = await run(runHere.call);
      expect(printed).toMatch(/^HTTP\/1\.1 201 /);
      expect(printed).toContain('"documentNumber":"1032456789"');
      expect(printed).toMatch(/"documentNumber": *"52345678"/);
    },
    SCRIPT_MS,
  );

  test(
    "check an eligibility, and show nothing of one tenant to the other",
    async () => {
      const printed = await run(runHere.tenants);
      expect(printed).toContain('"eligible":true');
      expect(printed).toContain(`"name":"${smallClinic.locations[0]?.name}"`);
      expect(printed).not.toContain("Cerezos");
    },
    SCRIPT_MS,
  );

  test(
    "give what changed",
    async () => {
      const printed = await run("Follow what changes");
      expect(Array.from(printed.matchAll(/"type":"([^"]+)"/g), ([, type]) => type)).toHaveLength(3);
      expect(printed).toMatch(/"nextCursor":"[\w-]+","hasMore":true/);
    },
    SCRIPT_MS,
  );

  test(
    "book an appointment, move it once, and book for another patient what it had",
    async () => {
      const printed = await run(runHere.booking);
      const statuses = Array.from(printed.matchAll(/HTTP\/1\.1 (\d+) /g), ([, status]) => Number(status));
      expect(statuses).toEqual([200, 410]);
      const [booked, again, ...others] = Array.from(printed.matchAll(/"startsAt": *"([^"]+)",\s/g), ([, at]) => at);
      expect(booked).toMatch(/Z$/);
      expect({ again, others }).toEqual({ again: booked, others: [] });
    },
    SCRIPT_MS,
  );

  test(
    "list what changed, in the order of a cursor",
    async () => {
      const { events } = JSON.parse(await run(runHere.events)) as { events: Record<string, unknown>[] };
      expect(events).toHaveLength(3);
      for (const event of events) expect(["APPOINTMENT", "PATIENT"]).toContain(event["resourceType"]);
    },
    SCRIPT_MS,
  );
});

/** Runs all shell commands of a section, one after the other, and gives what they print; rejects where one of them fails. */
async function run(section: string): Promise<string> {
  const [, text = ""] = readme.split(`\n## ${section}\n`);
  const blocks = Array.from(
    (text.split("\n## ")[0] ?? "").matchAll(/^```sh\n(.*?)^```$/gms),
    ([, block]) => `${block}`,
  );
  expect(blocks).not.toEqual([]);
  const script = ["set -eu", await stage(), ...blocks.map(addressed)].join("\n");
  const clock = `data:text/javascript,Date.now=()=>${service.now()}`;
  const env = { ...process.env, NODE_OPTIONS: `--import=${clock}` };
  const { stdout } = await promisify(execFile)("sh", ["-c", script], { cwd: root, env });
  return stdout;
}

/** At the service's addresses in place of those of `npm start`. */
function addressed(commands: string): string {
  return commands
    .replaceAll("http://127.0.0.1:8080", service.publicUrl)
    .replaceAll("http://127.0.0.1:9090", service.internalUrl);
}

/** What stands in for the tokens of a service that `npm start` started. */
async function stage(): Promise<string> {
  const [token, other] = await Promise.all(
    [DEMO_TENANT_ID, smallClinic.tenantId].map((tenantId) => service.token({ tenantId, client: "demo" })),
  );
  return [
    `npm() { case "$*" in *${smallClinic.tenantId}*) echo ${other};; *) echo ${token};; esac; }`,
    `npx() { shift; "${process.execPath}" node_modules/@bufbuild/buf/bin/buf "$@"; }`,
    `node() { "${process.execPath}" "$@"; }`,
    `command -v curl >/dev/null || curl() { node test/support/curl.mjs "$@"; }`,
  ].join("\n");
}
