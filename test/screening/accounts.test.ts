import { describe, expect, it } from "vitest";
import { screenText } from "../../src/screening/screen-text.js";

describe("an account or a verification value is found", () => {
  it.each([
    ["behind the account", "consignen a mi cuenta de ahorros 24098765432"],
    ["some words behind the account", "la cuenta de mi hija es 45678901234"],
    ["before the bank", "30198765432 ahorros bancolombia"],
    ["behind the bank", "bancolombia ahorros 30198765432"],
    ["behind a transfer", "por favor consignen al 45678901234"],
    ["as a wallet on a telephone", "mi nequi es 3001234567"],
    ["as a verification value", "el cvv me lo pidieron y les dije 331"],
    ["as the digits on the back", "los tres números de atrás son 456"],
  ])("%s: %s", (_, text) => {
    expect(screenText(text)).toEqual(["CONTAINS_FINANCIAL_DATA"]);
  });
});

describe("no financial data is found", () => {
  it.each([
    ["in the telephone of an account", "Teléfono de la cuenta: 3001234567"],
    ["in the code of a door", "Código de seguridad 123 de la puerta"],
    ["in an account that is a bill", "la cuenta de cobro 889912345 no la han pagado"],
    ["in a reference", "el reembolso radicado 30198765432 está demorado"],
    ["in a receipt", "con el comprobante de bancolombia 778899001 no me reciben"],
    ["in a call that is put through", "transfieran mi llamada al 6017654321"],
    ["in a payment by wallet", "Pagué con Nequi al 3005550100"],
  ])("%s: %s", (_, text) => {
    expect(screenText(text)).toEqual([]);
  });
});
