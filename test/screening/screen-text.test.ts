import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { screenText } from "../../src/screening/screen-text.js";
import { readCorpus } from "./read-corpus.js";
import { refusedTexts } from "./refused-texts.js";

const ordinaryTexts = readCorpus("made-ordinary");
const scripts = ["٠", "۰", "०", "０", "𝟎", "\u{116d0}", "\u{116da}", "\u{1e5f1}"].map(
  (zero) => zero.codePointAt(0) ?? 0,
);

describe("ordinary texts are accepted", () => {
  it("are many", () => {
    expect(new Set(ordinaryTexts).size).toBeGreaterThanOrEqual(500);
  });

  it.each(ordinaryTexts)("%s", (text) => {
    expect(screenText(text)).toEqual([]);
  });

  it("each after each other one", () => {
    const blank = fc.constantFrom(". ", "\n");
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...ordinaryTexts), { minLength: 2, maxLength: 5 }),
        blank,
        (texts, joint) => {
          expect(screenText(texts.join(joint))).toEqual([]);
        },
      ),
      { numRuns: 300 },
    );
  });

  it.each([
    "Asunto: clave\n1032456789 Ana Gómez",
    "Asunto: clave\nMi usuario es 1032456789",
    "Faltó el diagnóstico\nA09 fue mi turno",
    "Pido número de cuenta\n1032456789 Ana Gómez",
  ])("if a line ends between word and value: %j", (text) => {
    expect(screenText(text)).toEqual([]);
  });

  it("in capitals", () => {
    for (const text of ordinaryTexts) expect(screenText(text.toUpperCase()), text).toEqual([]);
  });

  it.each(["", " ", "\n", "\ud800", "\u200b"])("even %j", (text) => {
    expect(screenText(text)).toEqual([]);
  });
});

describe("sensitive texts are rejected", () => {
  it("are many", () => {
    expect(new Set(refusedTexts.map(([text]) => text)).size).toBeGreaterThanOrEqual(50);
  });

  it.each(refusedTexts)("%s", (text, ...codes) => {
    expect(screenText(text)).toEqual(codes);
  });

  it.each(refusedTexts)("among ordinary ones: %s", (text, ...codes) => {
    const [first = "", second = ""] = ordinaryTexts;
    expect(screenText([first, text, second].join("\n"))).toEqual(codes);
  });

  it("in any letter case", () => {
    for (const text of ["Mi diagnóstico es E11.9", "Cuenta de ahorros 12345678901", "Mi contraseña es abc123"]) {
      expect(screenText(text.toUpperCase())).toEqual(screenText(text));
      expect(screenText(text.toLowerCase())).toEqual(screenText(text));
      expect(screenText(text)).toHaveLength(1);
    }
  });

  it("with invisible characters anywhere, and in any Unicode normalization form", () => {
    const unseen = fc.constantFrom("", "", "\u200b", "\u00ad", "\u2060", "\ufeff", "\u200d", "\u{e0020}", "\ufe0f");
    const form = fc.constantFrom("NFC", "NFD", "NFKC", "NFKD");
    fc.assert(
      fc.property(fc.constantFrom(...refusedTexts), fc.infiniteStream(unseen), form, ([text, ...codes], fill, how) => {
        const hidden = Array.from(text.normalize(how), (character) => `${character}${fill.next().value}`);
        expect(screenText(hidden.join(""))).toEqual(codes);
      }),
    );
  });

  it("with digits of any script", () => {
    fc.assert(
      fc.property(fc.constantFrom(...refusedTexts), fc.constantFrom(...scripts), ([text, ...codes], zero) => {
        const written = text.replace(/[0-9]/g, (digit) => String.fromCodePoint(zero + Number(digit)));
        expect(screenText(written)).toEqual(codes);
      }),
    );
  });
});

describe("any text", () => {
  it("is screened without an error", () => {
    const text = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }), fc.string());
    fc.assert(
      fc.property(
        fc.array(fc.oneof(text, fc.constantFrom("dx", "E11.9", "clave", "cuenta", ": ", "4111"))),
        (parts) => {
          const codes = screenText(parts.join(" "));
          expect(codes).toEqual([...new Set(codes)]);
        },
      ),
    );
  });

  it.each([
    "clave de la ",
    "contraseña: ",
    "diagnóstico de la ",
    "E11.9 ",
    "cuenta de ahorros ",
    "4 ",
    "4111-",
    "1",
    "a",
    "eyJ",
    "a://",
    "de10 ",
    "- ",
    ".",
    " ",
    "\u0301",
    "\ufdfa",
    "dx ",
    "tengo ",
    "que tengo ",
    "no me diagnosticaron ",
    "nunca, ",
    "that I have ",
    "mi papá ",
    "mi clave que ",
    "usuario y clave ",
    "me llegó un código ",
    "consignen a la cuenta ",
    "diagnosticoo ",
    "codigo entrar ",
    "clave del correo a@b ",
    "mi nequi es ",
    "I have ",
    "who is diabetic ",
    "people who have diabetes ",
    "code that you sent me ",
    "tarjeta vence 12/27 ",
    "tarjeta terminada en vence ",
    "llave bre-b es ",
    "transfiera a la llave ",
    "clave, ",
    "mi clave, por si, ",
    "p4ss ",
    "a.",
  ])("is screened in time even if it repeats %j two thousand times", (part) => {
    expect(screenText(part.repeat(2_000))).toHaveLength(0);
  });
});
