import { describe, expect, it } from "vitest";
import { type ScreeningCode, screenText } from "../../src/screening/screen-text.js";
import { readCorpus } from "./read-corpus.js";

const kinds = [
  ["diagnosis", "CONTAINS_DIAGNOSIS"],
  ["credential", "CONTAINS_CREDENTIAL"],
  ["financial-data", "CONTAINS_FINANCIAL_DATA"],
] as const;

describe("sentences that the patterns were made with", () => {
  it.each(kinds)("are all refused where they hold a %s", (kind, code) => {
    expect(readCorpus(`made-${kind}`).filter((text) => !screenText(text).includes(code))).toEqual([]);
  });

  it("all pass where they are ordinary", () => {
    expect(readCorpus("made-ordinary").filter((text) => screenText(text).length > 0)).toEqual([]);
  });
});

describe("sentences that were kept away from the making of the patterns", () => {
  it.each(kinds)("are refused, 95 of 100 or more, where they hold a %s", (kind, code) => {
    expect(shareOf(readCorpus(`held-out-${kind}`), (codes) => codes.includes(code))).toBeGreaterThanOrEqual(0.95);
  });

  it("pass, 98 of 100 or more, where they are ordinary", () => {
    expect(shareOf(readCorpus("held-out-ordinary"), (codes) => codes.length === 0)).toBeGreaterThanOrEqual(0.98);
  });
});

describe("the corpus", () => {
  const ordinary = [...readCorpus("made-ordinary"), ...readCorpus("held-out-ordinary")];
  const refused = ["made", "held-out"].flatMap((set) => kinds.flatMap(([kind]) => readCorpus(`${set}-${kind}`)));

  it("has at least 500 sentences each that pass and that do not, none of them twice", () => {
    expect(ordinary.length).toBeGreaterThanOrEqual(500);
    expect(refused.length).toBeGreaterThanOrEqual(500);
    expect(new Set([...ordinary, ...refused]).size).toBe(ordinary.length + refused.length);
  });
});

function shareOf(texts: readonly string[], isRight: (codes: readonly ScreeningCode[]) => boolean): number {
  return texts.filter((text) => isRight(screenText(text))).length / texts.length;
}
