import type { OptionTokens } from "../../src/option-tokens/option-tokens.js";

/** Option tokens for whoever composes services that no test of theirs asks for options. */
export const noTokens: OptionTokens = {
  seal: () => Promise.reject(new Error("no option tokens here")),
  open: () => Promise.resolve({ kind: "INVALID" }),
};
