import { create, type UnknownField } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { type ImportRow, ImportRowSchema } from "../../src/gen/cupo/clinic/v1/import_row_pb.js";
import { createRowHashes } from "../../src/services/imports/row-hashes.js";

const { contentOf } = createRowHashes(Buffer.from("the key of a source"));

test("the hash of a row depends on all its fields, but not on fields that this release does not know", () => {
  const hash = contentOf(row("L1"));
  expect(contentOf(row("L1"))).toBe(hash);
  expect(contentOf(row("L2"))).not.toBe(hash);
  const unknown: UnknownField = { no: 9_999, wireType: 0, data: new Uint8Array([1]) };
  expect(contentOf({ ...row("L1"), $unknown: [unknown] })).toBe(hash);
});

function row(sourceId: string): ImportRow {
  return create(ImportRowSchema, { sourceId, resource: { case: "location", value: { code: "L", name: "Sede" } } });
}
