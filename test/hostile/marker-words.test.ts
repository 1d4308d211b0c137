import type { DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { requestExamples } from "../../src/openapi/examples/request-examples.js";
import { servedServices } from "../../src/services/services.js";
import { type ExampleCalls, exampleCalls, startDemoService, unaryMethods } from "../openapi/example-calls.js";
import { sendRequest } from "../support/rest-request.js";
import type { TestService } from "../support/service.js";
import { type OtlpReceiver, startOtlpReceiver } from "../telemetry/otlp-receiver.js";

/** A unique word. Its letters are valid in names, codes, documents and addresses. */
const MARKER = "Qwxzyvbk";
/** The members with free text. */
const FREE_TEXTS =
  /^(fullName|name|description|note|text|reason|comment|code|documentNumber|email|registrationNumber)$/;
const DEEP = 3;

let receiver: OtlpReceiver;
let service: TestService;
let examples: ExampleCalls;

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  service = await startDemoService({}, { telemetry: receiver.config });
  const marked = Object.entries(requestExamples(service.now())).map(([name, example]) => {
    const request = mark(example.request) as JsonObject;
    return [name, { ...example, request }] as const;
  });
  examples = exampleCalls(service, Object.fromEntries(marked));
});

afterAll(() => receiver.close());

test("a word in every text of every request appears in no rejection, log line, event, document, page, metric or trace", async () => {
  const refusals: string[] = [];
  let accepted = 0;
  for (const name of Object.keys(requestExamples(service.now()))) {
    const answer = await examples.call(name).catch(String);
    if (typeof answer === "string") refusals.push(answer.replace(/^.*?: \d+ /, ""));
    else if (answer.status >= 400) refusals.push(answer.text);
    else accepted += answer.text.toLowerCase().includes(MARKER.toLowerCase()) ? 1 : 0;
  }
  expect(accepted).toBeGreaterThan(20);
  const token = await examples.token();
  for (const method of unaryMethods.values()) {
    const url = `${service.internalUrl}/${method.parent.typeName}/${method.name}`;
    const { status, text } = await sendRequest("POST", url, { token, body: filled(method.input) });
    if (status >= 400) refusals.push(text);
  }
  const logged = service.log.map((line) => JSON.stringify(line));
  const kept = await service.query("SELECT to_jsonb(e)::text AS row FROM audit_events e");
  const events = await listEvents(token);
  const shown = await pages();
  const metrics = await (await fetch(`${service.internalUrl}/metrics`)).text();
  await service.close();
  const sent = receiver.received.map(({ body }) => body.toString());
  const rows = kept.map(({ row }) => String(row));
  const found = [...refusals, ...logged, ...rows, ...events, ...shown, metrics, ...sent].filter((text) =>
    text.toLowerCase().includes(MARKER.toLowerCase()),
  );
  expect(found).toEqual([]);
  expect(new Set(receiver.spans().map(({ attributes }) => attributes["cupo.operation"])).size).toBeGreaterThan(
    unaryMethods.size,
  );
  expect(receiver.metricNames()).toContain("cupo.problems");
  expect(metrics).toContain("VALIDATION_FAILED");
  expect(refusals.length).toBeGreaterThan(20);
  expect(events.length).toBeGreaterThan(0);
});

/** Returns the text of all events of the tenant, one item per page. */
async function listEvents(token: string): Promise<readonly string[]> {
  const url = `${service.internalUrl}/cupo.clinic.v1.EventService/ListEvents`;
  const found: string[] = [];
  let from: JsonObject = { start: "OLDEST" };
  for (;;) {
    const { text, body } = await sendRequest("POST", url, { token, body: from });
    found.push(text);
    if (body["hasMore"] !== true) return found;
    from = { cursor: String(body["nextCursor"]) };
  }
}

/** Returns the pages of both listeners that need no token. */
async function pages(): Promise<readonly string[]> {
  const publicPaths = ["/openapi.json", "/openapi.yaml"].map((path) => `${service.baseUrl}${path}`);
  const others = ["/docs", "/openapi.json", "/openapi.yaml", "/readyz"].map((path) => `${service.internalUrl}${path}`);
  const urls = [
    ...publicPaths,
    `${service.publicUrl}/docs`,
    `${service.publicUrl}/problems/validation-failed`,
    ...others,
  ];
  return Promise.all(urls.map(async (url) => (await fetch(url)).text()));
}

function mark(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(mark);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, held]) => [
      name,
      FREE_TEXTS.test(name) && typeof held === "string" ? markedText(name, held) : mark(held),
    ]),
  );
}

function markedText(name: string, held: string): string {
  if (name === "email") return `${MARKER.toLowerCase()}@example.com`;
  if (name === "code" || name === "documentNumber" || name === "registrationNumber")
    return `${MARKER.toUpperCase()}${held.length}`;
  return `${held} ${MARKER}`;
}

/** Returns a message with a value in every field and the word in every text. */
function filled(message: DescMessage, depth = 0): JsonObject {
  const fields = message.fields.filter((field) => depth < DEEP || field.fieldKind !== "message");
  return Object.fromEntries(fields.map((field) => [field.jsonName, valueOf(field, depth)]));
}

function valueOf(field: DescField, depth: number): JsonValue {
  if (field.fieldKind === "list") return [field.listKind === "message" ? filled(field.message, depth + 1) : MARKER];
  if (field.fieldKind === "message") {
    const isTimestamp = field.message.typeName === "google.protobuf.Timestamp";
    return isTimestamp ? MARKER : filled(field.message, depth + 1);
  }
  return MARKER;
}

test("the word is sent to every operation", () => {
  const unary = servedServices
    .flatMap(({ service: { methods } }) => methods)
    .filter((each) => each.methodKind === "unary");
  expect(unaryMethods.size).toBe(unary.length);
});
