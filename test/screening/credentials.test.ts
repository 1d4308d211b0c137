import { describe, expect, it } from "vitest";
import { screenText } from "../../src/screening/screen-text.js";

describe("a credential is found", () => {
  it.each([
    ["as a plain word", "mi clave es colombia"],
    ["behind a colon", "clave: colombia"],
    ["before its name", "colombia2020 es mi contraseña"],
    ["with the name of a user", "usuario mperez clave luna"],
    ["as a pair", "usuario y clave: mperez / luna7"],
    ["as data of access", "mis datos de ingreso: mperez Luna2019"],
    ["some words behind its name", "la clave para entrar a los resultados es luna55"],
    ["behind the address it belongs to", "mi contraseña del correo luz@example.com es Luc3ro"],
    ["as a code that came by message", "código de verificación/OTP que me llegó 482913"],
    ["as a code that came, the other way round", "me llegó el código 552310 para entrar"],
    ["as a number in groups", "clave 44 21 9"],
    ["as a token", "token 482913 vencido"],
    ["however its name is spelled", "mi contraceña es laura"],
    ["said to be used", "uso kira2011 de clave"],
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
  ])("%s: %s", (_, text) => {
    expect(screenText(text)).toEqual([]);
  });
});
