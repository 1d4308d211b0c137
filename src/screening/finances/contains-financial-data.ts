import { anyOf, gap, ofDoor, upTo, wordEnd, wordStart } from "../word-patterns.js";
import { containsCardDetails } from "./card-details.js";
import { containsCardNumber } from "./card-number.js";
import { containsIban } from "./iban.js";
import { paymentKeyPatterns } from "./payment-keys.js";

const BANKS = `bancolombia davivienda bbva bogota occidente popular av_villas caja_social colpatria scotiabank itau
  agrario falabella pichincha gnb sudameris coomeva bancamia finandina serfinanza nubank lulo nequi daviplata`;

const FILLERS = `es era fue son is was de del of on in el la los mi su tu my your the banco bank numero no\\.?
  nro\\.? num\\.? number n cuenta account ahorros? corriente tarjeta card credito debito credit debit visa
  mastercard que aparece atras siguiente personal nomina a_la en_el en a_(?:mi_)?nombre mio mia a_la_mano en_dolares
  en_pesos para_(?:el|la|mi)_(?:reembolso|devolucion|pago|reintegro|consignacion|deposito|giro) ${BANKS}`;

const ACCOUNT = anyOf(`cuentas?_(?:de_)?ahorros? cuentas?_corrientes? cuenta_bancaria cuenta_(?:de_)?nomina
  (?:numero|nro\\.?|no\\.?|num\\.?)_(?:de_)?(?:la_|mi_|su_)?cuenta cuenta_(?:numero|nro|no|num|n)
  cta_?\\.?_?(?:de_)?(?:ahorros?|aho|ahs|corriente|cte\\.?|bancaria|nro|no|num)
  (?:account|acct|acc)\\.?_(?:number|no\\.?|num|nr) bank_acct (?:savings|checking|bank)_account routing_(?:number|no)`);
const CARD = anyOf(`tarjeta_(?:de_)?(?:credito|debito|visa|mastercard|amex) numero_de_(?:la_|mi_|su_)?tarjeta
  (?:credit|debit)_card card_number visa mastercard american_express amex diners`);
const VERIFICATION_VALUE =
  anyOf(`(?:cvv2?|cvc2?)_(?:code|number|codigo) cvv2? cvc2? cod(?:igo)?\\.?_(?:de_)?seg(?:uridad)?\\.? security_code
  (?:numeros|digitos|numeritos)_(?:de|del)_(?:atras|reverso|respaldo) codigo_(?:de_)?atras
  card_verification_(?:value|code) codigo_de_verificacion_de_(?:la|mi)_tarjeta`);

const dash = String.raw`[\s./\p{Pd}]`;
const notOther = [
  String.raw`[0-9]{1,2}${dash}[0-9]{1,2}${dash}(?:19|20)?[0-9]{2}${wordEnd}`,
  String.raw`(?:19|20)[0-9]{2}${dash}{1,3}(?:19|20)?[0-9]{2}${wordEnd}`,
  String.raw`[0-9]{1,3}(?:\.[0-9]{3}){1,5}(?![0-9])`,
  String.raw`[0-9][0-9.,]{0,15}\s?(?:pesos?|mil|millones|cop|usd|dolares|euros)${wordEnd}`,
]
  .map((dateOrAmount) => `(?!${dateOrAmount})`)
  .join("");

/**
 * Returns a pattern for a number of `least` to `most` digits on one line. One point, or up to two spaces or dashes, may
 * stand between two digits.
 */
function digits(least: number, most: number): string {
  return String.raw`(?<![0-9])[0-9](?:(?:[ \p{Pd}]{0,2}|\.)[0-9]){${least - 1},${most - 1}}(?![0-9])`;
}

const isTheir = String.raw`\s(?:es|era|is|como)\s(?:el|la|mi|su|my|the)\s`;
const beforeBareAccount = String.raw`(?<=^|[\n.,;:(]\s?|${wordStart}(?:mi|su|la|una|esta|nuestra|my|a|de|swift(?:\s\S{8,11})?)\s)`;
const notContact = String.raw`(?<!${wordStart}(?:telefonos?|celular(?:es)?|cel|tel|contactos?|lineas?|whatsapp|correo|fijo|numero de contacto)\.?\s(?:(?:registrado|asociado|inscrito)\s)?(?:de|del|a|en|con)\s(?:(?:la|mi|su|esta)\s)?)`;
const SAVINGS = String.raw`(?:ahorros?|aho|ahs|corriente|cte)\.?`;
const notTelephone = String.raw`(?!(?:57[\s-]?)?(?:3[0-9]{2}|60[0-9])[\s-]?[0-9]{3}[\s-]?[0-9]{4}(?![0-9]))`;

/**
 * These words, between a word such as `transferí` and a number, show that the number is not the number of an account:
 * `factura` in `transferí por la factura 123456789`.
 */
const OTHERS =
  anyOf(`cobro contrato usuario correo luz agua acueducto gas energia internet telefono celular cel tel cedula cc
  documento nit radicado factura comprobante referencia orden autorizacion medica afiliado afiliacion no ni
  tramite caso pqr whatsapp contacto linea`);
const otherWords = String.raw`(?:[,:]? (?!${OTHERS}${wordEnd})[a-z]{1,15}){0,9},?`;
const TRANSFERS =
  "(?:consign[a-z]{1,8}|transf[a-z]{1,8}|deposit[a-z]{0,8}|devuelv[a-z]{1,8}|reembols[a-z]{1,8}|reintegr[a-z]{1,8}|refund|wire)";

/** These patterns are for text in lower case. V8 needs three times as long to compile patterns that ignore case. */
const patterns = [
  `${wordStart}${ACCOUNT}${upTo(6, FILLERS)}${gap}${notOther}${digits(5, 24)}`,
  `${notContact}${beforeBareAccount}(?:cuenta|cta|account)${wordEnd}${upTo(5, FILLERS)}${gap}${notOther}${digits(8, 24)}`,
  String.raw`${notContact}${wordStart}(?<!${wordStart}(?:en|por|tomar|da|di|dio|dan|den|dar|darse|dense|dimos|dieron|doy)\s)(?:cuenta|cta)${wordEnd}${otherWords}${gap}${notTelephone}${notOther}${digits(9, 24)}`,
  String.raw`${wordStart}${SAVINGS}(?:[.,;]\s?(?=n))?${upTo(4, FILLERS)}${gap}${notOther}${digits(9, 24)}`,
  `${wordStart}${anyOf(BANKS)}${gap}${SAVINGS}${gap}${notOther}${digits(9, 24)}`,
  String.raw`${wordStart}${TRANSFERS}${otherWords}${gap}${notTelephone}${notOther}${digits(9, 24)}`,
  ...paymentKeyPatterns,
  String.raw`${notOther}${digits(9, 24)},?\s(?:(?:de|en|es|la|una|cuenta|cta)\s){0,3}${SAVINGS}\s(?:(?:de|en|del|banco)\s){0,2}${anyOf(BANKS)}`,
  `${digits(8, 24)}${isTheir}(?:${ACCOUNT}|cuenta)${wordEnd}`,
  `${wordStart}${CARD}${upTo(6, FILLERS)}${gap}${digits(12, 19)}`,
  // Matches four groups of four digits after a word for a card. The first digit must be from 2 to 6. The check digit
  // may be wrong, because people mistype.
  String.raw`${wordStart}(?:tarjetas?|tarj|cards?|plastico)${wordEnd}${upTo(6, FILLERS)}${gap}[2-6][0-9]{3}(?<sign>[ .\p{Pd}]?)(?:[0-9]{4}\k<sign>){2}[0-9]{4}(?![0-9])`,
  String.raw`${wordStart}${VERIFICATION_VALUE}${upTo(6, FILLERS)}${gap}${digits(3, 4)}(?![\s.\p{Pd}]?[0-9])(?!${ofDoor})`,
  String.raw`${wordStart}(?:cvv2?|cvc2?)(?: [a-z]{1,12}){0,7} (?:es|era|fue|dije|di|son) ${digits(3, 4)}(?![ .\p{Pd}]?[0-9%])`,
  `${digits(3, 4)}${isTheir}${VERIFICATION_VALUE}${wordEnd}`,
].map((source) => new RegExp(source, "u"));

/**
 * Returns whether a plain text contains financial data. These count:
 * - a payment card number or an IBAN
 * - the number of an account or card near a word such as `cuenta`, `tarjeta` or `consigné`
 * - a payment key, or the mobile number of a payment app: `mi nequi es 300 123 4567`
 * - the verification value of a card, or the code of a card near its expiry month
 *
 * Amounts, invoices, tax numbers and the last four digits of a card do not count.
 */
export function containsFinancialData(plain: string): boolean {
  return containsCardNumber(plain) || containsAccount(plain);
}

/**
 * Returns whether a plain text contains financial data ({@link containsFinancialData}). Ignores a payment card number
 * that has no word such as `tarjeta` near it.
 */
export function containsAccount(plain: string): boolean {
  const lower = plain.toLowerCase();
  return containsIban(plain) || containsCardDetails(lower) || patterns.some((pattern) => pattern.test(lower));
}
