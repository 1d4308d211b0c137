import { describe, expect, it } from "vitest";
import { type ScreeningCode, screenText } from "../../src/screening/screen-text.js";
import { readCorpus } from "./read-corpus.js";

const kinds = [
  ["diagnosis", "CONTAINS_DIAGNOSIS"],
  ["credential", "CONTAINS_CREDENTIAL"],
  ["financial-data", "CONTAINS_FINANCIAL_DATA"],
] as const;

describe("sentences used to write the patterns", () => {
  it.each(kinds)("are all rejected if they contain a %s", (kind, code) => {
    expect(readCorpus(`made-${kind}`).filter((text) => !screenText(text).includes(code))).toEqual([]);
  });

  it("are all accepted if they are ordinary", () => {
    expect(readCorpus("made-ordinary").filter((text) => screenText(text).length > 0)).toEqual([]);
  });
});

describe.each([
  ["held-out", 140, 117],
  ["later-held-out", 322, 366],
  ["third-held-out", 198, 138],
  ["fourth-held-out", 74, 30],
])("sentences that were not used to write the patterns (%s)", (set, refused, ordinary) => {
  it.each(kinds)("are rejected in at least 95 % of cases if they contain a %s", (kind, code) => {
    expect(shareOf(readCorpus(`${set}-${kind}`), (codes) => codes.includes(code))).toBeGreaterThanOrEqual(0.95);
  });

  it("are accepted in at least 98 % of cases if they are ordinary", () => {
    expect(shareOf(readCorpus(`${set}-ordinary`), (codes) => codes.length === 0)).toBeGreaterThanOrEqual(0.98);
  });

  it("are as many as originally written", () => {
    expect(kinds.flatMap(([kind]) => readCorpus(`${set}-${kind}`))).toHaveLength(refused);
    expect(readCorpus(`${set}-ordinary`)).toHaveLength(ordinary);
  });
});

describe("the corpus", () => {
  const sets = ["made", "held-out", "later-held-out", "third-held-out", "fourth-held-out"];
  const ordinary = sets.flatMap((set) => readCorpus(`${set}-ordinary`));
  const refused = sets.flatMap((set) => kinds.flatMap(([kind]) => readCorpus(`${set}-${kind}`)));

  it("has at least 1,000 sentences to accept and 1,000 to reject, all different", () => {
    expect(ordinary.length).toBeGreaterThanOrEqual(1000);
    expect(refused.length).toBeGreaterThanOrEqual(1000);
    expect(new Set([...ordinary, ...refused]).size).toBe(ordinary.length + refused.length);
  });
});

function shareOf(texts: readonly string[], isRight: (codes: readonly ScreeningCode[]) => boolean): number {
  return texts.filter((text) => isRight(screenText(text))).length / texts.length;
}
