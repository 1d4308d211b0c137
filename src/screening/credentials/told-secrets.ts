import { anyOf, ofDoor, wordEnd, wordStart } from "../word-patterns.js";
import { notKeyNoun } from "./key-nouns.js";
import { readSecretValue } from "./secret-value.js";

const SECRETS = anyOf("claves? contrasenas? contrasenia passwords? passcode pin nip token otp");

/**
 * Negations, and names of things that are not secrets, such as `turno`. A value after one of these words does not count
 * as the secret named before the word: `la clave no abre, el turno es 4421`. The words of `account` are an exception:
 * `la clave del correo es luna55`.
 */
const OTHERS =
  anyOf(`no ni cedula documento cc celular cel telefono tel fijo numero correo radicado cita citas turno turnos
  orden factura fila horario hora sala piso consultorio puerta edificio porton reja parqueadero entrada bano usuario
  nit direccion autorizacion afiliacion codigo kiosco ventanilla error version pagina not document phone cell line room floor
  window door appointment invoice order username`);
const account = String.raw` (?:del|de (?:la|mi|el|su)) (?:correo|usuario|celular|telefono|pagina)(?: \S{1,40}@\S{1,40}(?<!\.))?${wordEnd}`;
const words = String.raw`(?:${account}| (?!${OTHERS}${wordEnd})[a-z]{1,15}){0,9}?`;
const toldAs = String.raw`(?: ?[:=]| (?:es|era|fue|dice|decia|seria|quedo|is|was)) ["'“(]?`;
const SENT = "(?:llego|llega|llegaron|mandaron|enviaron|aparecio|salio)";
const GIVEN = "(?:dieron|dio|recibi|tengo|mando|envio)";
const byMessage = String.raw` (?:por|al|en|via) (?:(?:mi|un|el) )?(?:mensaje|sms|texto|whatsapp|celular|telefono|correo)`;
const CHANGE = anyOf(
  "pongan ponga pon ponle poner dejen deje dejar cambien cambie cambia cambiar cambienme cambieme set change reset",
);
const number = "(?<code>[0-9]{4,8})(?![0-9.,:/-]?[0-9])";
const ofSecurity = String.raw`de (?:verificacion|acceso|ingreso|seguridad|autenticacion|validacion)`;
const ofOther = String.raw` (?:de|del|en|para|of|for) (?:(?:la|el|mi|una?|the|my) )?(?:cita|turno|orden|examen|autorizacion|consulta|radicado|factura|pedido|pesos|appointment|turn|order|exam|test|authorization|service|invoice|case)`;
const notOther = `(?!${ofDoor}|${ofOther})`;
const byWay = anyOf(
  `de del por al a mi sms mensaje texto celular correo whatsapp es numero verificacion acceso que me`,
);

const patterns = [
  // Matches `la clave para entrar a mi cuenta es luna55`.
  String.raw`${notKeyNoun}${wordStart}(?:${SECRETS}|codigo ${ofSecurity})${words}${toldAs}(?<value>\S{4,64})(?: (?<next>\S{1,20}))?`,
  // Matches `cambien la contraseña, la de ahora es luna55`.
  String.raw`${notKeyNoun}${wordStart}(?:${SECRETS}), (?:la|el|esa|ese|y|the)${words}${toldAs}(?<value>\S{4,64})(?: (?<next>\S{1,20}))?`,
  // Matches `mi clave, luna55, no abre`.
  String.raw`${notKeyNoun}${wordStart}(?:${SECRETS}), ["'“(]?(?<value>\S{4,64})(?<=,) `,
  // Matches `clave 4 4 2 1`.
  String.raw`${wordStart}(?:${SECRETS}|codigo ${ofSecurity})(?:${toldAs}| )(?<spaced>[0-9]{1,3}(?:[ -][0-9]{1,3}){2,5})(?![0-9/.-])`,
  // Matches `uso luna55 como contraseña`.
  String.raw`(?<!\S)(?<value>\S{4,64}) (?:como|de|as) (?:(?:mi|la|my|the|a) )?${SECRETS}${wordEnd}`,
  // Matches `el código para entrar a la videollamada es 778120`.
  String.raw`${wordStart}codigo${wordEnd}${words} (?:entrar|ingresar|acceder|verificar|${SENT})${words}${toldAs}${number}${notOther}`,
  // Matches `me llegó el código 482913`.
  String.raw`${wordStart}${SENT} (?:[a-z]{1,12} ){0,3}codigos?(?: ${byWay}){0,5}:? ${number}${notOther}`,
  // Matches `me dieron el código 482913 por mensaje`.
  String.raw`${wordStart}${GIVEN} (?:[a-z]{1,12} ){0,3}codigos?:? ${number}${byMessage}`,
  // Matches `pongan mi clave en 445566`.
  String.raw`${wordStart}${CHANGE}(?: [a-z]{1,8}){0,2} ${SECRETS}${words} (?:en|a|por|to|como) ["'“(]?(?<value>\S{4,64})(?: (?<next>\S{1,20}))?`,
  // Matches `they texted me the code 334455`.
  String.raw`${wordStart}(?:sent|texted|emailed|mailed|gave|got|received|get) (?:[a-z]{1,12} ){0,3}codes? (?:(?:is|of|number) ){0,2}:? ?${number}${notOther}`,
  // Matches `el código 778120 que me enviaron`.
  String.raw`${wordStart}codigo ${number} (?:${ofSecurity}${notOther}|que (?:(?:me|nos) )?${SENT}(?! (?:a|en|de) (?:la )?(?:cita|fila|entrada)))`,
  // Matches `the code that you texted me is 334455`.
  String.raw`${wordStart}code(?: [a-z]{1,8}){1,3} (?:sent|texted|emailed|mailed|gave)(?: [a-z]{1,12}){0,4} (?:is|was) ${number}${notOther}`,
  // Matches `code 334455 that you sent me`.
  String.raw`${wordStart}code ${number}(?: (?:that|which|you|they|was|i|he|she)){1,2} (?:sent|texted|emailed|got|received)(?! (?:a|for|at) )`,
  // Matches `778120 como código de verificación`.
  String.raw`(?<![0-9])${number} (?:como|es|era|fue) (?:(?:el|mi|un) )?codigo (?:${ofSecurity}|otp)${notOther}`,
].map((source) => new RegExp(source, "giu"));

/** Matches a Colombian telephone number, with or without the country code 57. It does not count as a secret. */
const telephone = /^(?:57)?(?:3[0-9]|60)[0-9]{8}\W?$/;

/**
 * Returns whether a plain text states a secret in one of these ways:
 * - The secret stands after its name, with words or a comma between: `la clave para entrar es luna55`,
 *   `mi clave, luna55, no abre`.
 * - The secret stands before its name: `uso luna55 como clave`.
 * - The digits of the secret stand apart after its name: `clave 4 4 2 1`. There must be at least 4 digits.
 * - The secret is a code of 4 to 8 digits that came by message or is for a login: `me llegó el código 482913`,
 *   `el código para ingresar es 482913`.
 *
 * In the first two ways, the secret must be 4 to 8 digits, or have the shape MIXED (see `ValueShape`) and at least 5
 * characters. A word of letters only does not count.
 */
export function containsToldSecret(plain: string): boolean {
  return patterns.some((pattern) =>
    Array.from(plain.matchAll(pattern)).some(({ groups = {} }) => isSecret({ ...groups })),
  );
}

function isSecret({ value = "", next = "", code, spaced }: Readonly<Record<string, string | undefined>>): boolean {
  if (code !== undefined) return true;
  if (spaced !== undefined) return spaced.replace(/[^0-9]/g, "").length >= 4;
  if (telephone.test(value)) return false;
  const found = readSecretValue(value, next);
  if (found === undefined || found.shape === "WORD") return false;
  return found.shape === "MIXED" ? found.length >= 5 : found.length >= 4 && found.length <= 8;
}
