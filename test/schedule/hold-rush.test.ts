import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestService, type TestService } from "../support/service.js";
import { bookFirstOption, holdAndBook, openRush, PATIENTS, rush } from "./hold-rush.js";
import { closeConsistent, foundByTheService } from "./invariants.js";

/** All calls at once are of one client, which may run and wait for as many as there are patients. */
const SETTINGS = {
  CALLS_PER_PRINCIPAL: "50",
  CALLS_PER_TENANT: "50",
  RATE_LIMIT_PER_SECOND: "10000",
  RATE_LIMIT_PER_MINUTE: "100000",
};
const SLOTS = { startsAtLocal: "08:00:00", slotDurationMinutes: 30 };

let service: TestService;

beforeAll(async () => {
  service = await startTestService(SETTINGS);
});

afterAll(() => closeConsistent(service, foundByTheService));

test("patients who all take their first option need few attempts, if as many slots begin together", async () => {
  const attempts = await rush(
    await openRush(service, PATIENTS, { ...SLOTS, endsAtLocal: "08:30:00" }),
    bookFirstOption,
  );
  expect(Math.max(...attempts)).toBeLessThanOrEqual(5);
});

test.each([
  ["one after the other", 1, "18:00:00"],
  ["together", PATIENTS, "08:30:00"],
  ["in groups", 5, "10:00:00"],
])(
  "patients who hold one of a page of options need few attempts, if the slots begin %s",
  async (_, practitioners, endsAtLocal) => {
    const attempts = await rush(await openRush(service, practitioners, { ...SLOTS, endsAtLocal }), holdAndBook);
    expect(Math.max(...attempts)).toBeLessThanOrEqual(2);
  },
);
