import { anyOf, gap, upTo, wordEnd, wordStart } from "../word-patterns.js";

/** Colombian payment apps in which the number of an account is a mobile number. */
const WALLET = anyOf("nequi daviplata dale_wallet movii transfiya (?:bancolombia|ahorro)_a_la_mano");
/** The Colombian payment scheme Bre-B. Its keys, such as a mobile number or `@usuario`, stand for an account. */
const SCHEME = String.raw`bre[ \-]?b`;
const FILLERS = `es era is el la lo al a to at mi my numero number no\\.? nro\\.? num\\.? n cel celular linea de of the su cuenta account cedula cc documento correo email mail
  hija hijo mama papa madre padre esposa esposo hermana hermano senora senor`;
const mobile = String.raw`(?:\+?57[ -]?)?3[0-9]{2}[ -]?[0-9]{3}[ -]?[0-9]{2}[ -]?[0-9]{2}(?![0-9])`;
const handle = String.raw`@[a-z0-9][a-z0-9._-]{2,40}`;
const mail = String.raw`[a-z0-9][a-z0-9._-]{1,40}@[a-z0-9-]{2,40}\.[a-z]{2}`;
const keyValue = `(?:${handle}|${mail}|${mobile}|[0-9]{6,12}(?![0-9]))`;
const KEY = "(?:llaves?|keys?)";

/** Excludes a number after `pagué con Nequi al`: it belongs to the clinic, which receives the payment. */
const notPaid = String.raw`(?<!${wordStart}(?:pague|pago|pagamos|pagaron|paid) (?:con|por|with|by|via) )`;

/**
 * Sources of patterns that match a payment app with a mobile number, or a word for a payment key with the key. The
 * patterns are for text in lower case.
 */
export const paymentKeyPatterns: readonly string[] = [
  // Matches `mi nequi es 300 123 4567`.
  `${notPaid}${wordStart}${WALLET}${wordEnd}${upTo(5, FILLERS)}${gap}${mobile}`,
  // Matches `le giré a su nequi, el mío es el 300 123 4567`.
  `${wordStart}${WALLET}${wordEnd}, (?:el|la|the) (?:mio|mia|mine)${upTo(4, FILLERS)}${gap}${mobile}`,
  // Matches `300 123 4567 es mi nequi` and `3001234567 (nequi)`.
  String.raw`(?<![0-9])${mobile},? ?[(]?(?:(?:es|is|de|of|en|on|mi|my|el|por) ){0,3}${WALLET}${wordEnd}`,
  // Matches `llave bre-b @usuario`.
  `${wordStart}${SCHEME}${wordEnd}(?: ${KEY})?${upTo(5, FILLERS)}${gap}${keyValue}`,
  // Matches `mi llave es @usuario en bre-b`.
  `${wordStart}${KEY}${wordEnd}${upTo(5, FILLERS)}${gap}${keyValue}[, ]{0,2}(?:(?:de|en|para|por|for|on|in|con|mi|my) ){0,3}${SCHEME}${wordEnd}`,
  // Matches `mi llave es 300 123 4567`.
  String.raw`${wordStart}${KEY}(?: ?:| (?:es|is)(?: (?:el|la|mi|number|numero|celular)){0,2}) ${mobile}`,
  // Matches `transfieran a la llave @usuario`.
  `${wordStart}${KEY}${wordEnd}${upTo(3, FILLERS)}${gap}${handle}`,
];
