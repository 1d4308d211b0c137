import { anyOf, wordEnd, wordStart } from "../word-patterns.js";
import { isMeans, readSecretValue } from "./secret-value.js";

type Groups = Readonly<Record<string, string | undefined>>;

/** Words for a user name, and for data that people use as a user name. */
const USER = anyOf(`usuario username user_name user login cedula documento identificacion cc email correo mail`);
const SECRET = anyOf("clave contrasena contrasenia password passwd passcode pass pwd pw pin contra");
const either = `(?:${USER}|${SECRET})`;
const sign = String.raw`["']? ?(?:[:=]{1,2}|->) ?| (?:es|era|son|is)(?: (?:el|la))? `;
const joint = String.raw`(?:[ ,;/|]{1,3}| - )(?:(?:y|e|and|con|mi|la|su|esta|el) ){0,3}`;
const open = String.raw`["'“(]{0,2}`;

const patterns = [
  // Matches `usuario ana clave abc`.
  String.raw`${wordStart}${USER}(?:${sign}| )${open}(?<user>[^\s,;/|]{2,64}(?<!\.))${joint}${SECRET}${wordEnd}(?:${sign}| )${open}(?<value>\S{1,256})(?: (?<next>\S{1,20}))?`,
  // Matches `usuario y clave: ana / abc`.
  String.raw`${wordStart}(?:${either} ?(?:[/&,+]|y|e|and) ?(?:(?:la|mi|su) )?${either}|(?<data>datos|credenciales|credentials|accesos?|ingreso|login)(?: (?:de|para|del|for|to) [a-z]{2,12}){0,2})${wordEnd}(?:${sign})${open}(?<user>[^\s,;/|]{2,64}(?<!\.))(?: ?[/|,;\p{Pd}] ?| (?:y|e) | )(?<pair>\S{1,256})`,
].map((source) => new RegExp(source, "giu"));

/**
 * Returns whether a plain text contains a user name with its password: `usuario ana clave luna`,
 * `usuario y clave: ana luna7`.
 */
export function containsLogin(plain: string): boolean {
  return patterns.some((pattern) =>
    Array.from(plain.matchAll(pattern)).some(({ groups = {} }) => isSecret({ ...groups })),
  );
}

function isSecret({ user = "", value, next = "", pair, data }: Groups): boolean {
  if (/^(?:y|o|ni|la|el|mi|su|no|con|de)$/i.test(user)) return false;
  const found = readSecretValue(value ?? pair ?? "", next);
  if (found === undefined || (found.shape === "WORD" && (pair !== undefined || isMeans(value ?? "")))) return false;
  return (data === undefined || found.shape === "MIXED") && found.length >= (found.shape === "MIXED" ? 3 : 4);
}
