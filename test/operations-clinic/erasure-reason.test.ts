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
