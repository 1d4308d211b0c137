const plain = /^-?[0-9]{1,15}$/;
const parts = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

/**
 * The largest number of digits that an integer type can have. A number with more digits is out of range, so its value
 * is not computed.
 */
const mostDigits = 20;

/**
 * Returns the exact integer value of a JSON number's text (`5`, `5.0`, `5e0`; -0 is 0):
 * - a JavaScript number if the text has at most 15 digits and no fraction or exponent, and for 0 in any form
 * - a bigint for any other integer of at most 20 digits
 * - "large" for an integer of more than 20 digits. A large exponent costs no extra time.
 * - "fraction" if the number is not an integer
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
