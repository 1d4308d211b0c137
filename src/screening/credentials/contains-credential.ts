import { anyOf, ofDoor, upTo, wordEnd, wordStart } from "../word-patterns.js";
import { containsKeyFormat } from "./key-formats.js";
import { notKeyNoun } from "./key-nouns.js";
import { containsLogin } from "./login-pairs.js";
import { isMeans, readSecretValue, type ValueShape } from "./secret-value.js";
import { containsToldSecret } from "./told-secrets.js";

/**
 * A kind of credential: its names, as a list for {@link anyOf}, and the minimum length of its value for each
 * {@link ValueShape}. A shorter value does not count as a secret.
 */
interface Kind {
  readonly names: string;
  /** Minimum lengths if a sign or a verb stands between the name and the value: `clave: 1234`, `mi clave es 1234`. */
  readonly stated: Readonly<Record<ValueShape, number>>;
  /** Minimum length of a value of letters after a sign, as in `pass: luna`. Defaults to `stated.WORD`. */
  readonly signedWord?: number;
  /**
   * Minimum lengths if neither a sign such as `:` or `=` nor a verb such as `es` stands between the name and the value:
   * `clave 1234`, `clave del correo 1234`.
   */
  readonly beside: Readonly<Record<ValueShape, number>>;
}

type Groups = Readonly<Record<string, string | undefined>>;

const NEVER = Number.POSITIVE_INFINITY;

const kinds: Readonly<Record<string, Kind>> = {
  password: {
    names: `contrasenas? contrasenias? passwords? passwd psswd passw pswd? psw pwd passcode passphrase api_keys? client_secret secret_key
      secret_access_key access_key private_key llave_privada clave_secreta clave_privada (?:llave|clave)_(?:de_)?api
      (?:respuesta|palabra|frase)_(?:secreta|de_seguridad)
      respuesta_(?:a|de)_(?:la|mi)_pregunta_(?:secreta|de_seguridad) (?<=(?<!(?<![a-z])en\\s)mi\\s)contra
      secret_(?:answer|word|phrase|question) recovery_(?:key|code|phrase) backup_codes? codigos?_de_(?:recuperacion|respaldo)`,
    stated: { DIGITS: 3, MIXED: 4, WORD: 3 },
    beside: { DIGITS: 4, MIXED: 4, WORD: NEVER },
  },
  key: {
    names: "claves?",
    stated: { DIGITS: 4, MIXED: 4, WORD: 4 },
    beside: { DIGITS: 4, MIXED: 5, WORD: NEVER },
  },
  code: {
    names: `pin pines nip otp pin_(?:number|code|numero) one_time_(?:code|pin) (?:verification|access|login|security)_code codigo_(?:otp|sms|dinamico|temporal) codigo_(?:otp_)?(?:que|q|k)_(?:me|nos)_(?:llego|mandaron|enviaron)
      codigo_(?:de_)?(?:verificacion|acceso|ingreso|seguridad|autenticacion|validacion|activacion|desbloqueo)`,
    stated: { DIGITS: 4, MIXED: 4, WORD: NEVER },
    beside: { DIGITS: 4, MIXED: 5, WORD: NEVER },
  },
  pass: {
    names: `pass pw (?<=(?<!(?<![a-z])en\\s)(?:la|tu|su|una)\\s)contra`,
    stated: { DIGITS: 4, MIXED: 4, WORD: NEVER },
    signedWord: 4,
    beside: { DIGITS: NEVER, MIXED: 5, WORD: NEVER },
  },
  against: {
    names: `(?<=(?:^|[\\n,;/|.]\\s?|\\sy\\s))contra(?=\\s?[:=])`,
    stated: { DIGITS: NEVER, MIXED: 5, WORD: NEVER },
    beside: { DIGITS: NEVER, MIXED: NEVER, WORD: NEVER },
  },
  token: {
    names: "tokens? secretos? secrets?",
    stated: { DIGITS: 6, MIXED: 8, WORD: NEVER },
    beside: { DIGITS: 6, MIXED: 8, WORD: NEVER },
  },
};

const nothingBeside = { DIGITS: NEVER, MIXED: NEVER, WORD: NEVER };
const kindsOfNames: typeof kinds = Object.fromEntries(
  Object.entries(kinds).map(([name, kind]) => [
    name,
    { ...kind, beside: { ...nothingBeside, MIXED: name === "password" ? kind.beside.MIXED : NEVER } },
  ]),
);

const QUALIFIERS = `de del la el los las mi su tu sus mis para al the my your of for to acceso ingreso entrada
  seguridad portal portales app aplicacion aplicativo correo correos email mail gmail hotmail outlook cuenta usuario
  user wifi wi_fi red internet pagina web sitio plataforma sistema banco bancaria bancolombia davivienda nequi
  daviplata cajero tarjeta debito credito celular telefono whatsapp facebook instagram virtual citas eps ips paciente
  dinamica temporal nueva nuevo actual anterior vieja antigua personal secreta privada segunda primera account login
  registro admin administrador computador equipo numero no\\.? nro\\.? salud mia que uso tengo puse me nos
  dieron enviaron mandaron asignaron llego llega sms mensaje texto por provisional inicial predeterminada
  mio siempre en a recibido enviado generado recuerdo manejo escribi anote invente digito utilizo un este otp yo puse
  pongo registre i we you use used enter access sign log into on site website page phone system it with secret
  new old current temporary q pdf archivo archivos file files resultados results casa router modem received got
  pedir sacar agendar ver consultar abrir entrar ingresar acceder cita`;

const NAMES = Object.entries(kinds)
  .map(([kind, { names }]) => `(?<${kind}>${anyOf(names)})`)
  .join("|");
const sign = String.raw`["'“”«»‘’*\x60)\]]{0,3}\s?(?:[:=]{1,2}>?|->|\u2192)\s?`;
const copula = String.raw`(?:,(?:\s[a-z]{1,12}){1,6},)?\s(?:es|era|fue|ha sido|sigue siendo|sera|seria|son|is|was)(?:\s(?:la|el|esta|este|siguiente|the)){0,3}\s?:?\s`;
const blanks = String.raw`[ (/|*\p{Pd}]{1,3}`;
const open = String.raw`["'“”«»‘’*_\x60(\[]{0,3}`;
const value = String.raw`${open}(?<value>\S{1,256})(?<rest>(?: \S{1,20}){0,3})`;

const joint = `(?:(?<statement>${sign}|${copula})|${blanks})`;

const phrase = new RegExp(
  `${notKeyNoun}(?:${wordStart}|(?=passw))(?:${NAMES})${wordEnd}(?=${upTo(6, QUALIFIERS)}${joint}${value})`,
  "giu",
);
const isTheir = String.raw`(?:,?\s(?<that>esa|ese|esta|este))?\s(?:es|era|fue|is|was|como)\s(?<whose>el|la|mi|su|my|the|nuestra|tu)\s(?:nueva\s)?`;
const reversed = new RegExp(String.raw`(?<![^\s"'(])(?<value>\S{4,64})${isTheir}(?:${NAMES})${wordEnd}`, "giu");

/**
 * Matches years and Colombian telephone numbers. Such a number can be a secret if a sign or a verb stands between it
 * and the name of a credential: `clave: 1990`. Directly after the name, it is not a secret: `clave 1990`.
 */
const yearsOrTelephone = /^(?:(?:19|20)[0-9]{2}(?:-(?:19|20)?[0-9]{2})?|(?:57)?(?:3[0-9]|60)[0-9]{8})\W?$/;

const atDoor = new RegExp(`^${ofDoor}`, "iu");

/**
 * Returns whether a plain text contains a credential, in Spanish or English. These count:
 * - the name of a credential with a likely value: `clave: abc123`, `mi contraseña es luna7`, `luna7 es mi clave`
 * - a user name with its password: `usuario ana clave luna7`
 * - a code that came by message: `me llegó el código 482913`
 * - a token or key of a known format
 *
 * Complaints about passwords, `la clave del éxito`, the code of a door and `token de turno A23` do not count.
 */
export function containsCredential(plain: string): boolean {
  return (
    containsKeyFormat(plain) || containsLogin(plain) || containsToldSecret(plain) || containsNamedSecret(plain, kinds)
  );
}

/**
 * Returns whether a name, code or document number contains a credential. In a name such as `Clave 1001`, the number is
 * part of the name and not a secret. So a value after a word such as `clave` counts only in two cases:
 * - A sign or a verb stands between the word and the value: `clave: 1001`.
 * - The word is of the kind `password`, such as `contraseña`, and the value is MIXED: `contraseña luna7`.
 */
export function statesCredential(plain: string): boolean {
  return containsKeyFormat(plain) || containsLogin(plain) || containsNamedSecret(plain, kindsOfNames);
}

function containsNamedSecret(plain: string, among: typeof kinds): boolean {
  const isOne = ({ groups = {} }: RegExpExecArray) => isSecret(groups, among);
  return Array.from(plain.matchAll(phrase)).some(isOne) || Array.from(plain.matchAll(reversed)).some(isOne);
}

function isSecret(groups: Groups, among: typeof kinds): boolean {
  const { value: raw = "", rest = "", whose, that, statement = "" } = { ...groups };
  const how = statement === "" && whose === undefined ? "beside" : "stated";
  if (atDoor.test(rest) || (how === "beside" && yearsOrTelephone.test(raw))) return false;
  const found = readSecretValue(raw, rest.trimStart().split(" ", 1)[0] ?? "");
  const [name, kind] = Object.entries(among).find(([each]) => groups[each] !== undefined) ?? [];
  if (found === undefined || kind === undefined) return false;
  const isSigned = /[:=>\u2192]/.test(statement);
  const least = isSigned && found.shape === "WORD" ? kind.signedWord : undefined;
  if (found.length < (least ?? kind[how][found.shape])) return false;
  return found.shape !== "WORD" || (that === undefined && (name !== "key" || isWordAsKey(raw, whose)));
}

/**
 * Returns whether the word `raw`, next to `clave`, is a password: `mi clave es colombia`. A means to success is not a
 * password, because `clave` also means "key": `la clave es la paciencia`.
 *
 * If `raw` stands before `clave`, `whose` is the word before `clave`: `mi` in `colombia es mi clave`. Then `raw` is a
 * password only if `whose` is `mi` or `my`. If `raw` stands after `clave`, `whose` is undefined.
 */
function isWordAsKey(raw: string, whose: string | undefined): boolean {
  return !isMeans(raw) && (whose === undefined || /^(?:mi|my)$/i.test(whose));
}
