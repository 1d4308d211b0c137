import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { largeClinic } from "../../src/demo/large-clinic.js";
import { smallClinic } from "../../src/demo/small-clinic.js";
import { commandsOf, openPageShell, type PageShell } from "../support/page-commands.js";

/** Each command loads the definitions again, which takes a second on a busy machine. */
/** Random ids can contain any letters and digits. */
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const SCRIPT_MS = 240_000;

let shell: PageShell;

beforeAll(async () => {
  shell = await openPageShell();
}, SCRIPT_MS);

afterAll(() => shell.close());

describe("docs/guide/first-hour.md, pasted in order into one shell,", () => {
  const sections = [...commandsOf("docs/guide/first-hour.md")];
  const [prepare, error, change, book, move, eligibility, tenant, events] = sections.map(([title]) => title);
  let printed: ReadonlyMap<string | undefined, string>;

  beforeAll(async () => {
    const pasted = sections.flatMap(([title, blocks]) => [
      `echo '## ${title}'`,
      ...blocks,
      ...(title === error ? blocks.slice(-1) : []),
    ]);
    const text = await shell.run(pasted);
    printed = new Map(
      text
        .split(/^## /m)
        .slice(1)
        .map((part) => [part.split("\n")[0] ?? "", part.slice(part.indexOf("\n") + 1)]),
    );
  }, SCRIPT_MS);

  test("prints something in each of its eight sections except the first", () => {
    expect(sections).toHaveLength(8);
    expect([...printed].filter(([, text]) => text === "").map(([title]) => title)).toEqual([prepare]);
  });

  test("reports the errors of a patient, registers the patient, and reports a duplicate the second time", () => {
    expect(statuses(error)).toEqual([422, 201, 409]);
    const [problem = ""] = jsonLines(error);
    expect(problem.match(/"field":"\w+"/g)).toEqual([
      '"field":"fullName"',
      '"field":"phone"',
      '"field":"consentGrantedAt"',
    ]);
    expect(problem.replaceAll(UUID, "")).not.toMatch(/79555001|abc/);
  });

  test("updates the patient once", () => {
    expect(statuses(change)).toEqual([200, 409]);
    const [changed, refused] = jsonLines(change);
    expect(changed).toContain('"phone":"6015550102"');
    expect(refused).toContain('"code":"STALE_VERSION"');
  });

  test("books an appointment, moves it once, and books the released slot for another patient", () => {
    expect(statuses(move)).toEqual([200, 410, 201]);
    const startOf = (title: string | undefined) =>
      Array.from(of(title).matchAll(/"startsAt":"([^"]+)"/g), ([, start]) => start).at(-1);
    expect(startOf(book)).toMatch(/Z$/);
    expect(startOf(move)).toBe(startOf(book));
    expect(jsonLines(move)[0]).toContain('"version":2');
  });

  test("finds the patient eligible", () => {
    expect(of(eligibility)).toContain('"eligible":true');
  });

  test("shows no data of one tenant to the other", () => {
    expect(of(tenant)).toContain(`"name":"${smallClinic.locations[0]?.name}"`);
    expect(largeClinic.locations.length).toBeGreaterThan(0);
    for (const { name } of largeClinic.locations) expect(of(tenant)).not.toContain(`"${name}"`);
  });

  test("lists the events of the appointments, oldest first", () => {
    const [page = "{}"] = jsonLines(events);
    const { events: listed } = JSON.parse(page) as { events: { type: string }[] };
    const types = listed.map(({ type }) => type);
    expect(types).toEqual(["cupo.appointment.created", "cupo.appointment.updated", "cupo.appointment.created"]);
  });

  function of(title: string | undefined): string {
    return printed.get(title) ?? "";
  }

  function statuses(title: string | undefined): number[] {
    return Array.from(of(title).matchAll(/HTTP\/1\.1 (\d+) /g), ([, status]) => Number(status));
  }

  function jsonLines(title: string | undefined): string[] {
    return of(title).match(/^\{".*\}$/gm) ?? [];
  }
});

/** The sections with commands on the other pages: the expected output, or the reason why they are not run here. */
const otherPages: Readonly<Record<string, Readonly<Record<string, RegExp | string>>>> = {
  "docs/guide/booking.md": { "": /"fullName":"Ángela Yineth Cárdenas Díaz"/ },
  "docs/guide/events.md": { "Try it": /"type":"cupo\.\w+\.created".*"nextCursor":"[\w-]+","hasMore":true/ },
  "docs/guide/clients.md": {
    "": "is an example, which examples/examples.test.ts runs",
    "From protos": /\[ 'Sede /,
    "From OpenAPI": "is an example, which examples/examples.test.ts runs",
  },
  "docs/guide/import.md": { "Try it": "runs the built program, as import/import-killed.test.ts does" },
  "docs/guide/testing.md": { "": "is what runs this" },
};
/** Blocks that are not run: they follow a stream without end, or install packages. */
const LEFT_OUT = /:watch|pip install/;

describe.each(Object.entries(otherPages))("the commands of %s", (page, known) => {
  const commands = commandsOf(page);

  test("are run here, section by section, or have a reason", () => {
    expect([...commands.keys()]).toEqual(Object.keys(known));
    for (const reason of Object.values(known)) {
      for (const [file] of String(reason).matchAll(/[\w/-]+\.test\.ts/g)) {
        expect(existsSync(new URL(`../${file}`, import.meta.url))).toBe(true);
      }
    }
  });

  const runHere = Object.entries(known).filter((each): each is [string, RegExp] => each[1] instanceof RegExp);
  test.skipIf(runHere.length === 0).each(runHere)(
    "print the expected output: %s",
    async (section, expected) => {
      const blocks = commands.get(section) ?? [];
      expect(await shell.run(blocks.filter((block) => !LEFT_OUT.test(block)))).toMatch(expected);
    },
    SCRIPT_MS,
  );
});
