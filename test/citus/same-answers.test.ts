import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { demo } from "../../src/openapi/examples/demo-ids.js";
import type { RequestExamples } from "../../src/openapi/examples/request-example.js";
import { requestExamples } from "../../src/openapi/examples/request-examples.js";
import { isPublished, operationOf } from "../../src/operation.js";
import { migrate } from "../../src/postgres/migration/migrate.js";
import { publishedOperations } from "../contract/published-operations.js";
import { type ExampleCalls, exampleCalls, methodOf, startDemoService, unaryMethods } from "../openapi/example-calls.js";
import { withoutCitus } from "../support/citus.js";
import { testNow } from "../support/clock.js";
import { createEmptyDatabase, execute, type TestDatabase } from "../support/database.js";
import type { RestAnswer } from "../support/rest-request.js";
import type { TestService } from "../support/service.js";

const LONG_MS = 400_000;
/** Members with encrypted, signed or random values. */
const OWN_MEMBERS = /"(\w*(?:[tT]oken|[cC]ursor|feedId))":"[^"]+"/g;
const WEBHOOK_SECRET = /whsec_[\w+/=]+/g;
const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;
const INSTANT = /\b\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)/g;
/** All times of the demo's schedules are multiples of this. A time that was read from a clock is not. */
const GRID_MS = 300_000;

const OVER_CONNECT = Object.keys(comparableExamples(0)).map((name) => ({ name, success: 200 }));
const OVER_REST = OVER_CONNECT.map(({ name }) => ({ name, method: methodOf(name) }))
  .filter(({ method }) => isPublished(method.parent))
  .map(({ name, method }) => ({ name, success: operationOf(method).successStatus }));

describe.skipIf(withoutCitus !== "").each([
  { protocol: "Connect", examples: OVER_CONNECT, send: ({ call }: ExampleCalls) => call },
  { protocol: "REST", examples: OVER_REST, send: ({ callOverRest }: ExampleCalls) => callOverRest },
])(`the service on Citus and on PostgreSQL, over $protocol${withoutCitus}`, ({ examples, send }) => {
  const services: TestService[] = [];
  let calls: ExampleCalls[];
  let plain: TestDatabase;

  beforeAll(async () => {
    plain = await createEmptyDatabase();
    await migrate({ url: plain.ownerUrl, serviceUrl: plain.url });
    services.push(await startDemoService(), await startDemoService({ DATABASE_URL: plain.url }));
    calls = services.map((service) => exampleCalls(service, comparableExamples(testNow())));
    stopClocks();
    for (const { call } of calls) await call("MaterializeSchedule");
  }, LONG_MS);

  afterAll(async () => {
    for (const service of services) await service.close();
    await plain.drop();
  }, LONG_MS);

  test("has distributed tables, and others", async () => {
    const urls = [services[0]?.databaseUrl ?? "", plain.url];
    const shown = await Promise.all(urls.map((url) => execute(url, "SELECT cupo_is_distributed('patients') AS is")));
    expect(shown.flat()).toEqual([{ is: true }, { is: false }]);
  });

  test.each(examples)(
    "answers $name with the same status and body",
    async ({ name, success }) => {
      const [distributed, other] = await answersTo(name);
      expect(distributed).toEqual(other);
      expect(distributed?.status).toBe(success);
    },
    LONG_MS,
  );

  async function answersTo(name: string) {
    stopClocks();
    return Promise.all(calls.map(async (each) => inCommonWords(await send(each)(name))));
  }

  /** Sets the clocks of both services to the same moment. */
  function stopClocks(): void {
    const at = Math.max(...services.map(({ now }) => now()));
    for (const { stopAt } of services) stopAt(at);
  }
});

test(`the ${unaryMethods.size} operations over Connect and the ${publishedOperations.length} over REST are compared`, () => {
  const namesOf = (examples: readonly { name: string }[]) => new Set(examples.map(({ name }) => name.split(" ")[0]));
  expect(namesOf(OVER_CONNECT)).toEqual(new Set(unaryMethods.keys()));
  expect(namesOf(OVER_REST)).toEqual(new Set(publishedOperations.map(({ method }) => method.name)));
});

/**
 * Returns the examples, with searches limited to one practitioner. Options with the same start are in the order of random
 * ids, so that otherwise the booked slots would differ. The documented searches are compared as well.
 */
function comparableExamples(now: number): RequestExamples {
  const examples = requestExamples(now);
  const searches = Object.entries(examples).filter(([name]) => /^Search(?:AppointmentOptions|FreeSlots)\b/.test(name));
  return {
    ...examples,
    ...Object.fromEntries(
      searches.flatMap(([name, search]) => [
        [name, { ...search, request: { ...search.request, practitionerId: demo.practitioner.rios } }],
        [`${name} with anybody`, search],
      ]),
    ),
  };
}

/** Replaces the values that each service creates itself: ids, tokens and times read from a clock. */
function inCommonWords({ status, text }: RestAnswer) {
  const inWords = text
    .replaceAll(OWN_MEMBERS, '"$1":"own"')
    .replaceAll(UUID, "id")
    .replaceAll(WEBHOOK_SECRET, "secret")
    .replaceAll(INSTANT, (instant) => (Date.parse(instant) % GRID_MS === 0 ? instant : "moment"));
  return { status, body: JSON.parse(inWords) as unknown };
}
