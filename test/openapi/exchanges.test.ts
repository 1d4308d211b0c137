import { expect, test } from "vitest";
import { checkExchange, type Exchange } from "../support/openapi-check.js";
import { registration } from "../support/registration.js";

/** A valid answer to a registration, which each test changes. */
const exchange: Exchange = {
  method: "POST",
  url: "http://127.0.0.1:8080/api/external/v1/patients",
  requestHeaders: new Headers({ "idempotency-key": "1" }),
  requestText: JSON.stringify(registration()),
  status: 201,
  headers: new Headers({
    "content-type": "application/json",
    "x-correlation-id": "0b8f6a52-9f0e-4f7e-8f5c-3f1f0f4b7c21",
  }),
  text: JSON.stringify({
    id: "0b8f6a52-9f0e-4f7e-8f5c-3f1f0f4b7c21",
    documentType: "CC",
    fullName: "Ana",
    phone: "6015550100",
    status: "ACTIVE",
    version: 1,
  }),
};

test("an exchange that matches the documents passes", () => {
  expect(() => checkExchange(exchange)).not.toThrow();
});

test.each<[string, Partial<Exchange>, RegExp]>([
  ["an answer without a required member", { text: "{}" }, /must have required property 'id'/],
  [
    "an answer with an undocumented member",
    { text: exchange.text.replace("{", '{"secret":1,') },
    /must NOT have additional properties/,
  ],
  [
    "an answer in a wrong format",
    { text: exchange.text.replace(/"id":"[^"]*"/, '"id":"7"') },
    /must match format "uuid"/,
  ],
  ["a value that is not in the enumeration", { text: exchange.text.replace("ACTIVE", "ASLEEP") }, /allowed values/],
  ["another media type", { headers: new Headers({ "content-type": "text/plain" }) }, /the answer is text\/plain/],
  [
    "a header that is not documented",
    { headers: new Headers([...exchange.headers, ["retry-after", "1"]]) },
    /Retry-After is sent and not described/,
  ],
  ["no correlation id", { headers: new Headers({ "content-type": "application/json" }) }, /no X-Correlation-Id/],
  ["an accepted request without its key", { requestHeaders: new Headers() }, /Idempotency-Key is required/],
  ["an accepted request that violates its schema", { requestText: "{}" }, /request must have required property/],
  [
    "an error that is not a Problem",
    { status: 409 },
    /the answer is application\/json, not application\/problem\+json/,
  ],
  ["an undocumented status without a Problem", { status: 418 }, /not application\/problem\+json/],
])("%s fails the test in which it occurs", (_, change, fault) => {
  expect(() => checkExchange({ ...exchange, ...change })).toThrow(fault);
});
