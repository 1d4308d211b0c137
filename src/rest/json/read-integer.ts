const plain = /^-?[0-9]{1,15}$/;
const parts = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

/** More digits than any integer type has; what has more is out of range anyway and is not computed. */
const mostDigits = 20;

/**
 * The integer that a JSON number's text stands for, exactly (`5`, `5.0`, `5e0`; -0 is 0). Gives "fraction" for a number that
 * is not integral and "large" for one beyond 64 bits; a large exponent costs no time.
 */
export function integerOf(text: string): bigint | number | "fraction" | "large" {
  if (plain.test(text)) return Number(text) + 0;
  const [, sign = "", whole = "", fraction = "", exponentText = "0"] = parts.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return 0;
  const exponent = Number(exponentText) - fraction.length + (digits.length - significant.length);
  if (exponent < 0) return "fraction";
  if (significant.length + exponent > mostDigits) return "large";
  return BigInt(sign + significant + "0".repeat(exponent));
}
