import { expect, test } from "vitest";
import { createRestHandler } from "../../src/handler.js";
import { makeService } from "../support/make-service.js";
import { type Case, cases, different, refusedBindings } from "./bodies.js";
import { outcomeOf } from "./kinds-outcome.js";

test.each(cases)("$about", async (each) => {
  expect(await outcome(each)).toEqual(each.meant);
});

test.each(different)("$about, unlike $theirs ($difference)", async (each) => {
  expect(await outcome(each)).toEqual(each.meant);
});

test.each(refusedBindings)("%j is refused. %s (%s)", (binding) => {
  const services = [makeService({ name: "Refused", ...binding })];
  expect(() => createRestHandler({ services })).toThrow("test.Made/Refused");
});

function outcome({ binding, request, body, headers }: Case): Promise<unknown> {
  const [method = "", url = ""] = request.split(" ");
  const init = { ...(headers === undefined ? {} : { headers }), ...(body === undefined ? {} : { body }) };
  return outcomeOf({ name: "Case", ...binding }, { profile: "protojson" }, method, url, init);
}
