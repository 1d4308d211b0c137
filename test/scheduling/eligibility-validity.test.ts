import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { eligibilityValidUntil } from "../../src/scheduling/eligibility-validity.js";
import { shift } from "./calendar-oracle.js";

describe("eligibilityValidUntil", () => {
  it.each([
    ["24 hours on", "2026-03-02T15:00:00Z", "2026-12-31", "2026-03-03T15:00:00Z"],
    ["24 hours on, which is the end of the contract", "2026-03-02T05:00:00Z", "2026-03-02", "2026-03-03T05:00:00Z"],
    ["the end of the contract's last day in Bogotá", "2026-03-02T15:00:00Z", "2026-03-02", "2026-03-03T05:00:00Z"],
    ["the end of that day, though UTC is a day ahead", "2026-03-03T02:00:00Z", "2026-03-02", "2026-03-03T05:00:00Z"],
    ["the evaluation, at the contract's very end", "2026-03-03T05:00:00Z", "2026-03-02", "2026-03-03T05:00:00Z"],
    ["the evaluation, after the contract", "2026-03-03T05:00:00.001Z", "2026-03-02", "2026-03-03T05:00:00.001Z"],
    [
      "24 hours on, for a contract without a near end",
      "2026-03-02T15:00:00.5Z",
      "9999-12-31",
      "2026-03-03T15:00:00.500Z",
    ],
  ])("is %s", (_, evaluatedAt, validTo, until) => {
    expect(eligibilityValidUntil(Date.parse(evaluatedAt), validTo)).toBe(until);
  });

  it("is between the evaluation and 24 hours later, and earlier than that only if the contract ends", () => {
    const instants = fc
      .date({ min: new Date("2026-01-01T00:00:00Z"), max: new Date("2026-01-10T00:00:00Z"), noInvalidDate: true })
      .map((date) => date.getTime());
    fc.assert(
      fc.property(instants, fc.integer({ min: -3, max: 12 }), (evaluatedAtMs, days) => {
        const validTo = shift("2026-01-01", days);
        const lastingMs = Date.parse(eligibilityValidUntil(evaluatedAtMs, validTo)) - evaluatedAtMs;
        const contractLeftMs = Date.parse(`${shift(validTo, 1)}T00:00:00-05:00`) - evaluatedAtMs;
        expect(lastingMs).toBe(contractLeftMs <= 0 ? 0 : Math.min(86_400_000, contractLeftMs));
      }),
    );
  });
});
