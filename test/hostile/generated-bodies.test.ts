import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectProblem } from "../support/problem.js";
import { type Registration, registration } from "../support/registration.js";
import { startTestService, type TestService } from "../support/service.js";

const RUNS = 150;

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

test("any JSON at all is answered by 422 or done", async () => {
  await holdsFor(fc.jsonValue({ maxDepth: 5 }).map((value) => JSON.stringify(value)));
});

test("a registration in which some members are anything is answered by 422 or 409, or done", async () => {
  await holdsFor(registrations().map((value) => JSON.stringify(value)));
});

test("a registration with a piece of its text replaced is answered by 400, 422 or 409, or done", async () => {
  const damage = fc.record({ at: fc.nat(200), length: fc.nat(4), text: fc.string({ unit: "binary", maxLength: 4 }) });
  await holdsFor(
    damage.map(({ at, length, text }) => {
      const json = JSON.stringify(registration());
      return json.slice(0, at) + text + json.slice(at + length);
    }),
  );
});

function holdsFor(bodies: fc.Arbitrary<string>): Promise<void> {
  const property = fc.asyncProperty(bodies, async (body) => {
    const answer = await service.request("POST", "/patients", { body });
    if (answer.status === 201) return;
    expect([400, 409, 422]).toContain(answer.status);
    expectProblem(answer, answer.status);
  });
  return fc.assert(property, { numRuns: RUNS });
}

/** Registrations that keep some members good and give others any value, with members of any name beside them. */
function registrations(): fc.Arbitrary<Partial<Record<keyof Registration, unknown>>> {
  const members = Object.entries(registration()).map(([name, good]) => [name, fc.oneof(fc.constant(good), oddities())]);
  const known = fc.record(Object.fromEntries(members), { requiredKeys: [] });
  const unknown = fc.dictionary(fc.string({ unit: "binary" }), oddities(), { maxKeys: 2 });
  return fc.tuple(unknown, known).map(([others, own]) => ({ ...others, ...own }));
}

function oddities(): fc.Arbitrary<unknown> {
  return fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.string({ unit: "binary", maxLength: 300 }),
    fc.string({ unit: "grapheme", maxLength: 40 }),
    fc.emailAddress(),
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  );
}
