import { anyOf, wordEnd, wordStart } from "../word-patterns.js";

const EXPIRY = anyOf(
  "vence venc\\.? vencimiento vto vigencia valida? expira expires? expiry expiration exp\\.? valid caduca",
);
const words = String.raw`[ .:]{0,3}(?:[a-z]{1,12}[ .:]{1,2}){0,4}`;
const expiry = new RegExp(
  String.raw`${wordStart}${EXPIRY}${words}(?:0?[1-9]|1[0-2]) ?[/-] ?(?:20)?[2-4][0-9](?![0-9/-])`,
  "g",
);
const card = new RegExp(
  `${wordStart}${anyOf("tarjetas? tarj\\.? cards? visa mastercard amex diners debito credito debit credit")}${wordEnd}`,
);
const code = new RegExp(`${wordStart}${anyOf("codigo cod\\.? code cvv2? cvc2? clave")}${words}[0-9]{3,4}(?![0-9])`);

/**
 * Matches the end of a sentence. Only words in the sentence of the expiry month count, both for the card and for its
 * code. A month in another sentence can be, for example, the expiry of a medicine.
 */
const sentenceEnd = /[.?!] |\n/;

/**
 * A word such as `card`, and the code of a card, count only near an expiry month: at most this many characters before
 * it, or at most {@link AFTER} characters after it.
 */
const BEFORE = 80;
const AFTER = 60;

/**
 * Returns whether a text in lower case contains a word for a card, its expiry month and its code:
 * `visa 1111 vence 12/27 código 123`. The full card number is not required.
 */
export function containsCardDetails(lower: string): boolean {
  return Array.from(lower.matchAll(expiry)).some(({ 0: month, index }) => {
    const before =
      lower
        .slice(Math.max(0, index - BEFORE), index)
        .split(sentenceEnd)
        .at(-1) ?? "";
    const [after = ""] = lower.slice(index + month.length, index + month.length + AFTER).split(sentenceEnd);
    return card.test(`${before} ${after}`) && (code.test(before) || code.test(after));
  });
}
