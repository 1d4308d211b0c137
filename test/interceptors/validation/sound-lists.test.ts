import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { ReplaceProgramPractitionersRequestSchema as schema } from "../../../src/gen/cupo/access/v1/scheduling_configuration_service_pb.js";
import { createListSkipper } from "../../../src/interceptors/validation/verified-lists.js";
import { createListedValidator } from "./listed-validator.js";

const validate = createListedValidator();
const programId = randomUUID();
const ids = Array.from({ length: 500 }, (_, i) => (i % 2 === 0 ? randomUUID() : randomUUID().toUpperCase()));
const [first = ""] = ids;

describe("a long list of different UUIDs", () => {
  it("is not validated again", () => {
    const request = requestWith(ids);
    expect(createListSkipper(schema)(request)).toEqual(create(schema, { programId, expectedVersion: 1 }));
    expect(request.practitionerIds).toEqual(ids);
    expect(validate(schema, request)).toEqual([]);
  });

  it("stays in the message if it has at most 16 items", () => {
    const [short, long] = [requestWith(ids.slice(0, 16)), requestWith(ids.slice(0, 17))];
    expect(createListSkipper(schema)(short)).toBe(short);
    expect(createListSkipper(schema)(long).practitionerIds).toEqual([]);
  });

  it.each([
    ["not a UUID", "x", "INVALID_UUID: the value must be a UUID"],
    ["empty", "", "INVALID_UUID: the value must be a UUID"],
    ["two UUIDs in one", `${randomUUID()} ${randomUUID()}`, "INVALID_UUID: the value must be a UUID"],
    ["a UUID with a space at the end", `${randomUUID()} `, "INVALID_UUID: the value must be a UUID"],
    ["a duplicate", first, "DUPLICATE: the value must not be in the list twice"],
    ["a duplicate in upper case", first.toUpperCase(), "DUPLICATE: the value must not be in the list twice"],
  ])("has an error for an item that is %s, in a short and a long list", (_, item, error) => {
    for (const before of [ids.slice(0, 3), ids.slice(0, 499)]) {
      const request = requestWith([...before, item]);
      expect(createListSkipper(schema)(request)).toBe(request);
      const errors = validate(schema, request).map(({ field, code, message }) => `${field} ${code}: ${message}`);
      expect(errors).toEqual([`practitionerIds[${before.length}] ${error}`]);
    }
  });
});

function requestWith(practitionerIds: string[]) {
  return create(schema, { programId, expectedVersion: 1, practitionerIds });
}
