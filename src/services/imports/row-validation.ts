import { create, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import type { FieldError } from "../../errors.js";
import { type ImportRow, ImportRowSchema } from "../../gen/cupo/clinic/v1/import_row_pb.js";

/** Compiles a function that validates messages of a schema. The function returns an error item for each broken rule. */
export type ValidatorOf = <D extends DescMessage>(schema: D) => (message: MessageShape<D>) => readonly FieldError[];

/** Returns an error item for each rule that a row breaks. `field` is a JSON path in the row. */
export type ValidateRow = (row: ImportRow) => readonly FieldError[];

const RESOURCE = "resource";

/**
 * Compiles a function that validates rows. It validates the resource in a row like the same resource in a separate
 * request: first the sizes of its lists and texts, then its rules.
 */
export function createRowValidation(validatorOf: ValidatorOf): ValidateRow {
  const validateHead = validatorOf(ImportRowSchema);
  const members = ImportRowSchema.fields.flatMap(({ localName, jsonName, message }) =>
    message === undefined ? [] : [[localName, { jsonName, validate: validatorOf(message) }] as const],
  );
  const memberOf = new Map<string | undefined, (typeof members)[number][1]>(members);
  return ({ sourceId, resource }) => {
    const head = create(ImportRowSchema, sourceId === undefined ? {} : { sourceId });
    const ofHead = validateHead(head);
    const member = memberOf.get(resource.case);
    if (resource.value === undefined || member === undefined) return ofHead;
    const ofResource = member
      .validate(resource.value)
      .map(({ code, field, message }) => ({ code, field: `${member.jsonName}.${field}`, message }));
    return [...ofHead.filter(({ field }) => field !== RESOURCE), ...ofResource];
  };
}
