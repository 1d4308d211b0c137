import { createHmac } from "node:crypto";
import { toBinary } from "@bufbuild/protobuf";
import { type ImportRow, ImportRowSchema } from "../../gen/cupo/clinic/v1/import_row_pb.js";
import type { ImportKind } from "../../postgres/tables/imports/imported-resources.js";

/** The keyed hashes of the rows of one source system, in hexadecimal digits (HMAC-SHA-256). */
export interface RowHashes {
  /** Returns the hash of a row's kind together with its id in the other system. */
  keyOf(kind: ImportKind, sourceId: string): string;
  /** Returns the hash of a whole row. Equal rows have equal hashes. */
  contentOf(row: ImportRow): string;
}

/** Creates the hash functions with the key of a source system. */
export function createRowHashes(key: Buffer): RowHashes {
  return {
    keyOf: (kind, sourceId) => hash(key, `${kind}\n${sourceId}`),
    contentOf: (row) => hash(key, toBinary(ImportRowSchema, row, { writeUnknownFields: false })),
  };
}

function hash(key: Buffer, data: string | Uint8Array): string {
  return createHmac("sha256", key).update(data).digest("hex");
}
