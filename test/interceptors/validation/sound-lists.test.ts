import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { ReplaceProgramPractitionersRequestSchema as schema } from "../../../src/gen/cupo/access/v1/scheduling_configuration_service_pb.js";
import { withoutSoundLists } from "../../../src/interceptors/validation/sound-lists.js";
import { createListedValidator } from "./listed-validator.js";

const validate = createListedValidator();
const programId = randomUUID();
const ids = Array.from({ length: 500 }, (_, i) => (i % 2 === 0 ? randomUUID() : randomUUID().toUpperCase()));
const [first = ""] = ids;

describe("a long list of different UUIDs", () => {
  it("is not looked at again", () => {
    const request = requestWith(ids);
    expect(withoutSoundLists(schema, request)).toEqual(create(schema, { programId, expectedVersion: 1 }));
    expect(request.practitionerIds).toEqual(ids);
    expect(validate(schema, request)).toEqual([]);
  });

  it.each([
    ["a text that is no UUID", "x", "INVALID_UUID: the value must be a UUID"],
    ["nothing", "", "INVALID_UUID: the value must be a UUID"],
    ["two UUIDs in one", `${randomUUID()} ${randomUUID()}`, "INVALID_UUID: the value must be a UUID"],
    ["a blank behind", `${randomUUID()} `, "INVALID_UUID: the value must be a UUID"],
    ["one that was there", first, "DUPLICATE: the list must not contain a value twice"],
    ["one that was there in capitals", first.toUpperCase(), "DUPLICATE: the list must not contain a value twice"],
  ])("has an error of the item that is %s, be the list short or long", (_, item, error) => {
    for (const before of [ids.slice(0, 3), ids.slice(0, 499)]) {
      const request = requestWith([...before, item]);
      expect(withoutSoundLists(schema, request)).toBe(request);
      const errors = validate(schema, request).map(({ field, code, message }) => `${field} ${code}: ${message}`);
      expect(errors).toEqual([`practitionerIds[${before.length}] ${error}`]);
    }
  });
});

function requestWith(practitionerIds: string[]) {
  return create(schema, { programId, expectedVersion: 1, practitionerIds });
}
