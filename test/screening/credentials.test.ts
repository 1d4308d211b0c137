import { describe, expect, it } from "vitest";
import { screenText } from "../../src/screening/screen-text.js";

describe("a credential is found", () => {
  it.each([
    ["as a plain word", "mi clave es colombia"],
    ["after a colon", "clave: colombia"],
    ["before its name", "colombia2020 es mi contraseña"],
    ["with the name of a user", "usuario mperez clave luna"],
    ["as a pair", "usuario y clave: mperez / luna7"],
    ["as data of access", "mis datos de ingreso: mperez Luna2019"],
    ["some words after its name", "la clave para entrar a los resultados es luna55"],
    ["after the address it belongs to", "mi contraseña del correo luz@example.com es Luc3ro"],
    ["as a code that came by message", "código de verificación/OTP que me llegó 482913"],
    ["as a code that came, the other way round", "me llegó el código 552310 para entrar"],
    ["as a number in groups", "clave 44 21 9"],
    ["as a token", "token 482913 vencido"],
    ["however its name is spelled", "mi contraceña es laura"],
    ["said to be used", "uso kira2011 de clave"],
    ["by the short name of a password", "pass: qwerty"],
    ["by a name that people say", "la contra es perrito99"],
    ["by that name after the name of a user", "usuario mrojas contra mrojas1"],
    ["with digits in place of letters", "C0ntr4señ4: abc123"],
    ["with letters that stand apart", "c o n t r a s e ñ a : luna"],
    ["with all letters apart", "m i c l a v e e s l u n a 9 9"],
    ["between commas", "mi clave, luna55, no abre"],
    ["after a remark", "mi contraseña, por si la necesitan, es florecita"],
    ["in English, as a word", "My password is kitten"],
    ["in English, by what it is for", "the password to enter the app is dolphin3"],
    ["in English, as a code that came", "they sent me the code 334455 by text message"],
    ["in English, as a code that came, the other way round", "the code that you texted me is 901277"],
    ["in English, said to be used", "I used luna777 as my password"],
  ])("%s: %s", (_, text) => {
    expect(screenText(text)).toEqual(["CONTAINS_CREDENTIAL"]);
  });
});

describe("no credential is found", () => {
  it.each([
    ["where one is forgotten", "olvidé mi clave"],
    ["where one does not come", "la clave no me llega"],
    ["where one is asked for", "me piden clave para el turno"],
    ["in the code of a door", "código de la puerta 4571"],
    ["in the code of a door by another name", "Código de seguridad 4571 de la puerta"],
    ["in a key to success", "la clave es la paciencia"],
    ["in a key that is mine", "mi clave es llegar temprano"],
    ["in a key word", "Palabra clave: cirugía2026"],
    ["in what is said of a password", "usuario 1020304050 contraseña incorrecta"],
    ["in a document beside one", "mi clave no sirve mi cedula es 1020304050"],
    ["in the code of an appointment", "Mi código de cita es 48213"],
    ["in the token of a queue", "token de turno A23"],
    ["in a complaint against somebody", "Queja contra: Ramírez, ventanilla 3"],
    ["in what speaks against something", "estoy en contra: son 3 horas de fila"],
    ["in letters that stand apart", "Q U E J A contra la sede"],
    ["in English, where one does not work", "the password is always rejected"],
    ["in English, in a pass", "Pass: visitors only"],
    ["in English, in the code of a door", "The security code 4571 of the door"],
    ["in English, in the code of a service", "they gave me the code 890201 for the exam"],
  ])("%s: %s", (_, text) => {
    expect(screenText(text)).toEqual([]);
  });
});
