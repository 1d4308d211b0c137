import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { containsCardNumber } from "../../src/screening/finances/card-number.js";
import { screenText } from "../../src/screening/screen-text.js";

/** Card number ranges: prefix and length. */
const ranges = [
  ["4", 16],
  ["4", 13],
  ["4", 19],
  ["51", 16],
  ["55", 16],
  ["2221", 16],
  ["2720", 16],
  ["34", 15],
  ["37", 15],
  ["300", 14],
  ["305", 14],
  ["3095", 14],
  ["36", 14],
  ["39", 14],
  ["6011", 16],
  ["644", 16],
  ["65", 16],
  ["3528", 16],
  ["3589", 16],
  ["62", 16],
  ["62", 19],
  ["6759", 16],
  ["5018", 12],
] as const;
const cardOf = (prefix: string, length: number) =>
  fc
    .array(fc.integer({ min: 0, max: 9 }), {
      minLength: length - prefix.length - 1,
      maxLength: length - prefix.length - 1,
    })
    .map((rest) => withCheckDigit(`${prefix}${rest.join("")}`));
const card = fc.constantFrom(...ranges).chain(([prefix, length]) => cardOf(prefix, length));
const card16 = fc.constantFrom("4", "52", "2500", "6011").chain((prefix) => cardOf(prefix, 16));
const joint = fc.stringMatching(/^[ \n._*·•–—-]{1,3}$/);

describe("a card number is found", () => {
  it.each(ranges)("in the range %s… of %i digits", (prefix, length) => {
    fc.assert(fc.property(cardOf(prefix, length), (number) => containsCardNumber(number)));
  });

  it("in groups of four with any separators", () => {
    fc.assert(
      fc.property(card16, fc.array(joint, { minLength: 3, maxLength: 3 }), ([...digits], joints) => {
        const text = digits.map((digit, i) => (i % 4 === 0 && i > 0 ? `${joints[i / 4 - 1]}${digit}` : digit)).join("");
        expect(screenText(text)).toContain("CONTAINS_FINANCIAL_DATA");
      }),
    );
  });

  it("split anywhere by one separator", () => {
    const places = fc.uniqueArray(fc.integer({ min: 1, max: 15 }), { minLength: 4 });
    fc.assert(
      fc.property(card16, places, fc.constantFrom(" ", "-", ".", "_", " - ", "–"), (number, cuts, separator) => {
        const text = Array.from(number, (digit, i) => (cuts.includes(i) ? `${separator}${digit}` : digit)).join("");
        fc.pre(text.split(separator).every(({ length }) => length <= 6));
        expect(screenText(`pagué con ${text}, gracias`)).toContain("CONTAINS_FINANCIAL_DATA");
      }),
    );
  });

  it("after, before and between other numbers", () => {
    fc.assert(
      fc.property(card, fc.nat(9999), fc.nat(9999), (number, before, after) =>
        containsCardNumber(`${before} ${number} ${after}`),
      ),
    );
  });
});

describe("other numbers are accepted", () => {
  it("with a wrong check digit", () => {
    fc.assert(
      fc.property(card, fc.integer({ min: 1, max: 9 }), (number, shift) => {
        const wrong = `${number.slice(0, -1)}${(Number(number.at(-1)) + shift) % 10}`;
        expect(screenText(wrong)).toEqual([]);
      }),
    );
  });

  it("in groups of four with a wrong check digit", () => {
    fc.assert(
      fc.property(card16, fc.integer({ min: 1, max: 9 }), (number, shift) => {
        const wrong = `${number.slice(0, -1)}${(Number(number.at(-1)) + shift) % 10}`;
        expect(screenText(`guía ${wrong.replace(/(.{4})(?=.)/g, "$1 ")}`)).toEqual([]);
      }),
    );
  });

  it("of any length with a wrong check digit", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9]{1,60}$/), (digits) => {
        fc.pre(withCheckDigit(digits.slice(0, -1)) !== digits);
        expect(screenText(digits)).toEqual([]);
      }),
    );
  });

  it.each(["1", "7", "8", "9", "0", "500", "560", "2220", "2721", "306", "33", "3527", "3590", "6012", "643"])(
    "in the range %s… of no issuer",
    (prefix) => {
      fc.assert(fc.property(cardOf(prefix, 16), (number) => !containsCardNumber(number)));
    },
  );

  it("as parts of longer numbers", () => {
    fc.assert(
      fc.property(card16, fc.stringMatching(/^[0-9]{4,9}$/), (number, more) => !containsCardNumber(number + more)),
    );
  });

  it("in two long pieces, which are more likely two numbers", () => {
    fc.assert(
      fc.property(
        card16,
        fc.integer({ min: 7, max: 9 }),
        (number, cut) => !containsCardNumber(`${number.slice(0, cut)} ${number.slice(cut)}`),
      ),
    );
  });

  it("as two identity documents or telephone numbers next to each other", () => {
    const document = fc.integer({ min: 30_000_000, max: 59_999_999 }).map(String);
    const telephone = fc.integer({ min: 3_000_000_000, max: 3_249_999_999 }).map(String);
    const spaced = telephone.map((number) => number.replace(/^(...)(...)(....)$/, "$1 $2 $3"));
    fc.assert(
      fc.property(fc.oneof(document, telephone, spaced), fc.oneof(document, telephone, spaced), (a, b) => {
        expect(screenText(`${a} ${b}`)).toEqual([]);
        expect(screenText(`${a}, ${b}`)).toEqual([]);
      }),
    );
  });

  it("as dates next to each other", () => {
    const date = fc.date({ min: new Date("1920-01-01"), max: new Date("2060-01-01"), noInvalidDate: true });
    fc.assert(
      fc.property(fc.array(date, { minLength: 1, maxLength: 4 }), fc.constantFrom("-", "/", "."), (dates, sign) => {
        const [iso, local] = [dates.map(isoDate), dates.map((each) => isoDate(each).split("-").toReversed().join("-"))];
        for (const list of [iso, local]) expect(screenText(list.join(" ").replaceAll("-", sign))).toEqual([]);
      }),
    );
  });
});

/**
 * Adds the digit that makes the checksum right. Counts from the left of the full number to find the digits to double.
 */
function withCheckDigit(digits: string): string {
  const doubled = [0, 2, 4, 6, 8, 1, 3, 5, 7, 9];
  const sum = Array.from(digits, (digit, i) => {
    const isDoubled = (digits.length - i) % 2 === 1;
    return isDoubled ? (doubled[Number(digit)] ?? 0) : Number(digit);
  }).reduce((total, value) => total + value, 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

function isoDate(date: Date): string {
  return date.toISOString().slice(0, 10);
}
