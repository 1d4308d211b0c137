import { DatabaseError } from "pg";
import { describe, expect, test } from "vitest";
import { CupoError } from "../../src/errors.js";
import { uniqueConflict } from "../../src/postgres/unique-conflict.js";

describe("a unique violation is a conflict on the field in the constraint's name", () => {
  test.each([
    [
      "as PostgreSQL reports it",
      violation("payers_code_key", 'duplicate key value violates unique constraint "payers_code_key"'),
      "code",
    ],
    ["of an index", violation("patients_active_document_key", ""), "documentNumber"],
    ["of a primary key", violation("notes_pkey", ""), "id"],
    ["with the number of a shard", violation("holidays_date_key_102041", ""), "date"],
    [
      "with the number of a shard only in the message, as a Citus coordinator forwards it",
      violation(undefined, 'duplicate key value violates unique constraint "payers_code_key_102008"'),
      "code",
    ],
    [
      "of a primary key only in the message",
      violation(undefined, 'duplicate key value violates unique constraint "appointments_pkey_1020115"'),
      "id",
    ],
    [
      "in Spanish",
      violation(undefined, "llave duplicada viola restricción de unicidad «contracts_code_key_102019»"),
      "code",
    ],
    [
      "in French",
      violation(undefined, "la valeur d'une clé dupliquée rompt la contrainte unique « programs_code_key_102020 »"),
      "code",
    ],
  ])("%s", (_, error, field) => {
    const conflict = uniqueConflict(error);
    expect(conflict).toBeInstanceOf(CupoError);
    expect(conflict?.errors).toEqual([expect.objectContaining({ code: "DUPLICATE", field })]);
  });
});

describe("is no conflict:", () => {
  test.each([
    ["a constraint without a field in its name", violation("slots_start_key_102030", "")],
    ["a message without a constraint", violation(undefined, "duplicate key value violates a unique constraint")],
    ["another violation that names such a constraint", violation("payers_code_key", "", "23503")],
    ["an error that is not from the database", new Error('violates unique constraint "payers_code_key"')],
  ])("%s", (_, error) => {
    expect(uniqueConflict(error)).toBeUndefined();
  });
});

function violation(constraint: string | undefined, message: string, code = "23505"): DatabaseError {
  const error = new DatabaseError(message, message.length, "error");
  error.code = code;
  if (constraint !== undefined) error.constraint = constraint;
  return error;
}
