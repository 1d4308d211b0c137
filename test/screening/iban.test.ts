import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { containsIban } from "../../src/screening/finances/iban.js";

/** Examples from the IBAN registry. */
const examples = [
  "DE89370400440532013000",
  "ES9121000418450200051332",
  "GB29NWBK60161331926819",
  "FR1420041010050500013M02606",
  "NL91ABNA0417164300",
  "NO9386011117947",
  "CR05015202001026284066",
  "BR1800360305000010009795493C1",
  "DO28BAGR00000001212453611324",
  "GT82TRAJ01020000001210029690",
  "SV62CENR00000000000000700025",
  "MT84MALT011000012345MTLCAST001S",
];

describe("an IBAN is found", () => {
  it.each(examples)("%s without spaces, in groups of four, in lower case, in a sentence", (iban) => {
    const inFours = iban.replace(/(.{4})(?=.)/g, "$1 ");
    for (const text of [
      iban,
      inFours,
      iban.toLowerCase(),
      `mi cuenta es ${inFours}, gracias`,
      inFours.replaceAll(" ", "-"),
    ])
      expect(containsIban(text), text).toBe(true);
  });

  it("split anywhere if its account has only digits", () => {
    const places = fc.uniqueArray(fc.integer({ min: 1, max: 21 }));
    fc.assert(
      fc.property(places, fc.constantFrom(" ", "-", ".", " - "), (cuts, sign) =>
        containsIban(
          Array.from("DE89370400440532013000", (c, i) => (cuts.includes(i) && i > 1 ? sign + c : c)).join(""),
        ),
      ),
    );
  });
});

describe("no IBAN is found", () => {
  it.each(examples)("in %s with other check digits, one character more or fewer, or another country", (iban) => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 98 }), (check) => {
        const changed = `${iban.slice(0, 2)}${String(check).padStart(2, "0")}${iban.slice(4)}`;
        expect(containsIban(changed)).toBe(changed === iban);
      }),
    );
    expect(containsIban(`${iban}0`)).toBe(false);
    expect(containsIban(`0${iban}`)).toBe(false);
    expect(containsIban(iban.slice(0, -1))).toBe(false);
    expect(containsIban(`XX${iban.slice(2)}`)).toBe(false);
  });

  it("in an account with letters that is not split into groups of four", () => {
    expect(containsIban("GB29 NWBK 6016 1331 9268 19")).toBe(true);
    for (const text of ["GB 29NWBK60161331926819", "GB29 NWBK6016 1331 926819", "GB29-NW-BK-60161331926819"])
      expect(containsIban(text), text).toBe(false);
  });

  it("after a separate word such as de", () => {
    expect(containsIban("DE 89370400440532013000")).toBe(true);
    expect(containsIban("de 89370400440532013000")).toBe(false);
  });

  it("in words with numbers between them", () => {
    const word = fc.constantFrom(
      "de",
      "es",
      "al",
      "no",
      "se",
      "me",
      "10",
      "12",
      "a",
      "la",
      "fila",
      "en",
      "consultorio",
      "b12",
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 40 }), (words) => !containsIban(words.join(" "))),
      { numRuns: 2000 },
    );
  });
});
