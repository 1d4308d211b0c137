import { describe, expect, it } from "vitest";
import { screenText } from "../../src/screening/screen-text.js";

describe("an account or a verification value is found", () => {
  it.each([
    ["after the account", "consignen a mi cuenta de ahorros 24098765432"],
    ["some words after the account", "la cuenta de mi hija es 45678901234"],
    ["before the bank", "30198765432 ahorros bancolombia"],
    ["after the bank", "bancolombia ahorros 30198765432"],
    ["after a transfer", "por favor consignen al 45678901234"],
    ["as a wallet on a telephone", "mi nequi es 3001234567"],
    ["as a wallet after its number", "3134445566 (Nequi)"],
    ["as a wallet in English", "send it by Nequi to 315 666 7788"],
    ["as a key of Bre-B", "llave bre-b @usuario"],
    ["as a key before Bre-B", "mi llave es @pedro123 para bre-b"],
    ["as a key that is a mobile number", "my bre-b key: 3158889900"],
    ["as the end of a card with month and code", "tarjeta terminada en 1111 vence 12/27 código 123"],
    ["as the end of a card with code and month", "my visa ending 8888 code 135 expires 02/31"],
    ["in English", "please refund to bank acct 445566778"],
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
    ["in a wallet without a number", "el nequi de la caja 2 no funciona"],
    ["in the key of a locker", "la llave del casillero 33 se quedó pegada"],
    ["in the last digits of a card alone", "la tarjeta terminada en 1234 no pasa"],
    ["in a UUID with the digits of an IBAN", "el caso 0a024cb3-ff8f-4e71-be25-18b4e05cc873 sigue abierto"],
    ["in a UUID with the digits of a card", "el caso abcdefab-5555-4555-8555-0001abcdefab sigue abierto"],
    ["in what expires and is no card", "la orden vence 12/27 y el código es 890"],
  ])("%s: %s", (_, text) => {
    expect(screenText(text)).toEqual([]);
  });
});
