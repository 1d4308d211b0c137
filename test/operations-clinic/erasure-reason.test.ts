import { expect, test } from "vitest";
import type { PatientRecord } from "../../src/postgres/tables/patients/patients.js";
import { refuseNaming } from "../../src/services/patients/erasure-reason.js";
import { newPatient } from "../postgres/work-under-test.js";
import { registration } from "../support/registration.js";

/** Members of a registration that identify nobody. */
const COMMON = new Set(["documentType", "consentGrantedAt"]);

const texts = Object.entries(registration()).filter(([name]) => !COMMON.has(name));

test.each(texts)("the reason of an erasure must not contain the %s of the patient", (name, text) => {
  const nameless: PatientRecord = { ...newPatient(), documentNumber: "", fullName: "", phone: "" };
  const patients = [{ ...nameless, [name]: text }];
  const reason = `Lo pidió ${text}, por correo.`;
  expect(() => refuseNaming(reason, { patients, formerDocumentNumbers: [] })).toThrow(
    expect.objectContaining({ code: "VALIDATION_FAILED" }),
  );
  expect(() => refuseNaming(reason, { patients: [nameless], formerDocumentNumbers: [] })).not.toThrow();
});

test.each([
  ["a word of three letters of the name", { fullName: "Luz Li" }, "Lo pidió Luz.", true],
  ["a shorter word of the name", { fullName: "Luz Li" }, "Lo pidió Li.", false],
  ["a particle of the name", { fullName: "Pía del Río" }, "Por escrito del titular", false],
  ["a number of five digits", { documentNumber: "54.321" }, "Radicado 54321", true],
  ["a shorter number", { documentNumber: "4.321" }, "Radicado 4321", false],
  ["the first of two telephones", { phone: "300 555 0187 - 601 555 0188" }, "Llamó del 3005550187", true],
  ["the second of two telephones", { phone: "300 555 0187 - 601 555 0188" }, "Llamó del 6015550188", true],
  [
    "a number late in a long address",
    { documentNumber: "54.321" },
    `https://clinica.example/${"a".repeat(64)}/54321`,
    true,
  ],
])(
  "the reason of an erasure with %s of the patient is refused only if it names a person",
  (_, changes, reason, isRefused) => {
    const patients = [{ ...newPatient(), documentNumber: "", fullName: "", phone: "", ...changes }];
    const refuse = () => refuseNaming(reason, { patients, formerDocumentNumbers: [] });
    if (isRefused) expect(refuse).toThrow(expect.objectContaining({ code: "VALIDATION_FAILED" }));
    else expect(refuse).not.toThrow();
  },
);
