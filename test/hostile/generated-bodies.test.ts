import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectProblem } from "../support/problem.js";
import { type Registration, registration } from "../support/registration.js";
import { startTestService, type TestService } from "../support/service.js";

const RUNS = 40;

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

test("any JSON value is rejected with 422 or accepted", async () => {
  const bodies = fc.jsonValue({ maxDepth: 5 }).map((value) => JSON.stringify(value));
  await answersAreAmong([201, 422], bodies);
});

test("a registration with arbitrary values in some members is rejected with 422 or 409, or accepted", async () => {
  const bodies = registrations().map((value) => JSON.stringify(value));
  await answersAreAmong([201, 409, 422], bodies);
});

test("a registration with a replaced part of its text is rejected with 400, 422 or 409, or accepted", async () => {
  const damage = fc.record({ at: fc.nat(200), length: fc.nat(4), text: fc.string({ unit: "binary", maxLength: 4 }) });
  const bodies = damage.map(({ at, length, text }) => {
    const json = JSON.stringify(registration());
    return json.slice(0, at) + text + json.slice(at + length);
  });
  await answersAreAmong([201, 400, 409, 422], bodies);
});

function answersAreAmong(statuses: readonly number[], bodies: fc.Arbitrary<string>): Promise<void> {
  const property = fc.asyncProperty(bodies, async (body) => {
    const answer = await service.request("POST", "/patients", { body });
    expect(statuses).toContain(answer.status);
    if (answer.status !== 201) expectProblem(answer, answer.status);
  });
  return fc.assert(property, { numRuns: RUNS });
}

/** Generates registrations with valid or arbitrary values in known members, and with unknown members. */
function registrations(): fc.Arbitrary<Partial<Record<keyof Registration, unknown>>> {
  const members = Object.entries(registration()).map(([name, good]) => [name, fc.oneof(fc.constant(good), oddities())]);
  const known = fc.record(Object.fromEntries(members), { requiredKeys: [] });
  const unknown = fc.dictionary(fc.string({ unit: "binary" }), oddities(), { maxKeys: 2 });
  return fc.tuple(unknown, known).map(([others, own]) => Object.assign({}, others, own));
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
