import { randomInt } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestService, type TestService } from "../support/service.js";
import { fuzz, openField, type Tally } from "./fuzz.js";
import { type FuzzDefect, withDefect } from "./fuzz-defects.js";
import { fuzzedOperations } from "./generated-requests.js";

/** Minutes for which requests are sent, in rounds. The default is one round of one request per operation. */
const MINUTES = Number(process.env["FUZZ_MINUTES"] || 0);
const SEED = Number(process.env["FUZZ_SEED"] || randomInt(2 ** 30));
const REQUESTS_EACH = MINUTES > 0 ? 20 : 1;
const SLACK_MS = 300_000;

let service: TestService;
let defect: FuzzDefect | undefined;

beforeAll(async () => {
  service = await startTestService(
    { PUBLIC_CLINIC_API: "all" },
    { served: (entry) => withDefect(entry, () => defect) },
  );
}, SLACK_MS);

afterAll(() => service.close(), SLACK_MS);

test(
  "every operation answers any request with a listed status, and a rejection reveals nothing and has no effect",
  async () => {
    const end = performance.now() + MINUTES * 60_000;
    const tally: Tally = new Map();
    let seed = SEED;
    try {
      do {
        await fuzz(await openField(service, tally), seed, REQUESTS_EACH);
        seed += fuzzedOperations.length;
      } while (performance.now() < end);
    } finally {
      if (MINUTES > 0) print(tally);
    }
    expect(tally.size).toBe(fuzzedOperations.length);
  },
  SLACK_MS + MINUTES * 60_000,
);

/** Tests a test: the checks of the answers must detect defects. */
describe("the checks detect", () => {
  const creation = fuzzedOperations.filter(({ name }) => name === "CreatePayer");

  test.each<[FuzzDefect, RegExp]>([
    ["VALUE_REPEATED", /the answer repeats what was sent/],
    ["LONG_TEXT_UNEXPECTED", /the status is 500/],
    ["STATUS_OF_ANOTHER", /the status is 410/],
    ["SQL_SHOWN", /the answer shows/],
  ])(
    "%s",
    async (seeded, found) => {
      const field = await openField(service);
      defect = seeded;
      try {
        const failure = await fuzz(field, SEED, 100, creation).catch(String);
        expect(failure).toMatch(found);
        expect(failure).toMatch(/seed: \d+/);
      } finally {
        defect = undefined;
      }
    },
    SLACK_MS,
  );
});

/** Prints the number of answers by operation and status. */
function print(tally: Tally): void {
  const rows = [...tally].map(([name, statuses]) => {
    const counts = Array.from(statuses, ([status, count]) => `${status}: ${count}`).toSorted();
    return `| ${name} | ${counts.join(", ")} |`;
  });
  const counts = [...tally.values()].flatMap((statuses) => Array.from(statuses.values()));
  const all = counts.reduce((sum, count) => sum + count, 0);
  console.log(`seed ${SEED}, ${all} requests\n| operation | answers |\n| --- | --- |\n${rows.join("\n")}`);
}
