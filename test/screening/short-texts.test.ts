import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ShortTextKind, screenShortText } from "../../src/screening/screen-short-text.js";
import { createListedValidator } from "../interceptors/validation/listed-validator.js";
import { requestWith } from "../interceptors/validation/valid-requests.js";
import { createRandom, hardNames, makeFullNames } from "./colombian-names.js";
import { readCorpus } from "./read-corpus.js";

const kinds = ["NAME", "PHONE", "DOCUMENT", "LABEL"] as const;
const diagnosis = "CONTAINS_DIAGNOSIS";
const credential = "CONTAINS_CREDENTIAL";
const financial = "CONTAINS_FINANCIAL_DATA";

describe("names of people are accepted", () => {
  const names = [...makeFullNames(6_000), ...hardNames];

  test("6,000 combinations of Colombian given names and surnames, and the hard ones", () => {
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(6_000);
    expect(names.filter((name) => screenShortText(name, "NAME").length > 0)).toEqual([]);
  });

  test("all of them by the rules of a registration and of an update", () => {
    const validate = createListedValidator();
    const refused = (request: string, fullName: string) => validate(...requestWith(request, { fullName })).length > 0;
    expect(names.filter((name) => refused("RegisterPatientRequest", name))).toEqual([]);
    expect(hardNames.filter((name) => refused("UpdatePatientRequest", name))).toEqual([]);
  });
});

describe("telephone numbers are accepted", () => {
  test("of Colombia and other countries, with and without a plus sign, in any grouping", () => {
    const random = createRandom(7);
    const digits = (count: number) => Array.from({ length: count }, () => Math.floor(random() * 10)).join("");
    const countries = [
      "57",
      "1",
      "34",
      "44",
      "49",
      "52",
      "54",
      "55",
      "58",
      "593",
      "51",
      "62",
      "63",
      "86",
      "358",
      "352",
    ];
    const phones = Array.from({ length: 5_000 }, (_, index) => {
      const country = countries[index % countries.length] ?? "";
      const own = digits(Math.min(15 - country.length, 8 + (index % 6)));
      return [
        `+${country} ${own}`,
        `+${country}${own}`,
        `00${country}${own}`,
        `+${country} ${own.slice(0, 3)} ${own.slice(3)}`,
      ];
    }).flat();
    const local = Array.from({ length: 5_000 }, () => [
      `3${digits(9)}`,
      `(60${digits(1)}) ${digits(3)} ${digits(4)} ext. ${digits(4)}`,
      `3${digits(2)} ${digits(3)} ${digits(4)} / 3${digits(2)} ${digits(3)} ${digits(4)}`,
      `3${digits(9)} - 60${digits(8)}`,
    ]).flat();
    expect([...phones, ...local].filter((phone) => screenShortText(phone, "PHONE").length > 0)).toEqual([]);
  });

  test.each([
    "3001234567 (Nequi)",
    "300 555 0100 solo WhatsApp",
    "tel. 601 555 0100, cel 300 555 0100",
    "601 555 0100 mamá, 300 555 0100 papá",
    "cuenta 3001234567",
    "+43 4111 1111 111",
  ])("with additional words: %s", (phone) => {
    expect(screenShortText(phone, "PHONE")).toEqual([]);
  });
});

describe("document numbers are accepted", () => {
  test("of every length, except 16 digits that begin with 4", () => {
    const random = createRandom(11);
    const numbers = Array.from({ length: 5_000 }, (_, index) => {
      const text = Array.from({ length: 5 + (index % 14) }, () => Math.floor(random() * 10)).join("");
      return text.length === 16 ? text.replace(/^4/, "5") : text;
    });
    expect(numbers.filter((number) => screenShortText(number, "DOCUMENT").length > 0)).toEqual([]);
  });

  test.each([
    "CC",
    "PASSPORT",
    "CONTRASENA",
    "1.032.456.789",
    "900.123.456-7",
    "AV 123456",
    "PEP 941234567890123",
    "RC-1098765432",
  ])("such as %s", (number) => {
    expect(screenShortText(number, "DOCUMENT")).toEqual([]);
  });
});

describe("codes, names and references are accepted", () => {
  test.each([
    "Clave 2",
    "Clave 1001",
    "Clave roja",
    "CLAVE-AZUL",
    "PIN",
    "PIN 1234",
    "PIN-1234",
    "TOKEN-100200",
    "CTA-12345678",
    "Tarjeta Profesional 12345",
    "Tarjeta débito o crédito",
    "Cuenta médica 2026",
    "Consulta de primera vez por psiquiatría",
    "Programa de pacientes diagnosticados con VIH",
    "Control de diabetes mellitus tipo 2",
    "Día de la Contraseña",
    "EPS Sura 900.123.456",
    "Contrato 4500012345 de 2026",
    "Código de verificación de derechos",
    "Llamada: usuario no contesta",
    "7702001234567",
    "E11.9",
  ])("%s", (name) => {
    expect(screenShortText(name, "LABEL")).toEqual([]);
  });

  test.each([
    "PQR-2026-17",
    "PIN-1234",
    "RAD 2024-0098765",
    "20242100001234567",
    "caso 0190163d-8694-739b-aea5-966c26f8ad91",
  ])("as a reference: %s", (reference) => {
    expect(screenShortText(reference, "NAME")).toEqual([]);
  });
});

describe("forbidden content of a short text is rejected", () => {
  test.each<[ShortTextKind, string, string]>([
    ["NAME", "contraseña: Luna2024*", credential],
    ["NAME", "mi clave es luna", credential],
    ["NAME", "clave Luna2024*", credential],
    ["NAME", "c l a v e luna99", credential],
    ["NAME", "usuario ana clave luna", credential],
    ["NAME", "4111 1111 1111 1111", financial],
    ["NAME", "Ana Gómez 4111111111111111", financial],
    ["NAME", "cuenta de ahorros 12345678901", financial],
    ["NAME", "mi nequi es 3001234567", financial],
    ["NAME", "diagnosticada con VIH", diagnosis],
    ["NAME", "Ana Gómez, tiene cáncer", diagnosis],
    ["NAME", "Ana Gómez (VIH positiva)", diagnosis],
    ["NAME", "patient with HIV", diagnosis],
    ["NAME", "REF-4111111111111111", financial],
    ["PHONE", "contraseña: Luna2024*", credential],
    ["PHONE", "4111 1111 1111 1111", financial],
    ["PHONE", "4111111111111111", financial],
    ["PHONE", "+4111111111111111", financial],
    ["PHONE", "+57 300 555 0100, 5555-5555-5555-4444", financial],
    ["PHONE", "41 11 11 11 11 11 11 11", financial],
    ["PHONE", "3001234567 diagnosticada con VIH", diagnosis],
    ["DOCUMENT", "4111111111111111", financial],
    ["DOCUMENT", "4111-1111-1111-1111", financial],
    ["DOCUMENT", "5555 5555 5555 4444", financial],
    ["DOCUMENT", "GB82WEST12345698765432", financial],
    ["DOCUMENT", "NIT GB82WEST12345698765432", financial],
    ["DOCUMENT", "contraseña Luna2024", credential],
    ["LABEL", "clave: Luna2024", credential],
    ["LABEL", "Password Luna2024*", credential],
    ["LABEL", "La clave del portal es luna55", credential],
    ["LABEL", "Tarjeta 5555 5555 5555 4444", financial],
    ["LABEL", "4111111111111111", financial],
    ["LABEL", "cuenta de ahorros 12345678901", financial],
    ["LABEL", "DE89370400440532013000", financial],
  ])("%s: %s", (kind, text, code) => {
    expect(screenShortText(text, kind)).toEqual([code]);
  });

  test.each([
    ["NAME", "credential"],
    ["NAME", "financial-data"],
  ] as const)("%s: at least 95 % of the held-out sentences with %s", (kind, name) => {
    const texts = readCorpus(`later-held-out-${name}`);
    expect(texts.filter((text) => screenShortText(text, kind).length > 0).length).toBeGreaterThanOrEqual(
      Math.ceil(texts.length * 0.95),
    );
  });
});

describe("any short text", () => {
  test("is screened without an error, with each code at most once", () => {
    const part = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("clave", ": ", "con ", "VIH", "4111", "+"));
    fc.assert(
      fc.property(fc.array(part), fc.constantFrom(...kinds), (parts, kind) => {
        const codes = screenShortText(parts.join(""), kind);
        expect(codes).toEqual([...new Set(codes)]);
      }),
    );
  });

  test.each(["0 ", "+1", "a ", "a-", "- ", "4111 ", "4111111111111111", "es ", "clave ", "clave. ", "con ", "é", "@"])(
    "is screened in time even if it repeats %j two thousand times",
    (part) => {
      for (const kind of kinds) expect(screenShortText(part.repeat(2_000), kind).length).toBeLessThan(2);
    },
  );
});

test.each(kinds.filter((kind) => kind !== "PHONE"))(
  "UUIDs are accepted as %s, even with the digits of an IBAN or a card",
  (kind) => {
    const uuids = ["0a024cb3-ff8f-4e71-be25-18b4e05cc873", "abcdefab-5555-4555-8555-0001abcdefab"];
    for (const uuid of uuids) expect(screenShortText(uuid, kind)).toEqual([]);
  },
);
