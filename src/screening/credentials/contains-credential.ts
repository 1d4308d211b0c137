import { anyOf, ofDoor, upTo, wordEnd, wordStart } from "../word-patterns.js";
import { containsKeyFormat } from "./key-formats.js";
import { notKeyNoun } from "./key-nouns.js";
import { containsLogin } from "./login-pairs.js";
import { isMeans, readSecretValue, type ValueShape } from "./secret-value.js";
import { containsToldSecret } from "./told-secrets.js";

/** A kind of credential: its names, and how long a value of each shape must be at least to be taken for one. */
interface Kind {
  readonly names: string;
  /** Where the text states the value: `clave: …`, `mi clave es …`. */
  readonly stated: Readonly<Record<ValueShape, number>>;
  /** Where the value stands beside the name: `clave …`. */
  readonly beside: Readonly<Record<ValueShape, number>>;
}

type Groups = Readonly<Record<string, string | undefined>>;

const NEVER = Number.POSITIVE_INFINITY;

const kinds: Readonly<Record<string, Kind>> = {
  password: {
    names: `contrasenas? contrasenias? passwords? passwd pwd passcode passphrase api_keys? client_secret secret_key
      secret_access_key access_key private_key llave_privada clave_secreta clave_privada (?:llave|clave)_(?:de_)?api
      (?:respuesta|palabra|frase)_(?:secreta|de_seguridad)`,
    stated: { DIGITS: 3, MIXED: 4, WORD: 3 },
    beside: { DIGITS: 4, MIXED: 4, WORD: NEVER },
  },
  key: {
    names: "claves?",
    stated: { DIGITS: 4, MIXED: 4, WORD: 4 },
    beside: { DIGITS: 4, MIXED: 5, WORD: NEVER },
  },
  code: {
    names: `pass pw pin pines nip otp codigo_(?:otp|sms|dinamico|temporal) codigo_que_(?:me|nos)_(?:llego|mandaron|enviaron)
      codigo_(?:de_)?(?:verificacion|acceso|ingreso|seguridad|autenticacion|validacion|activacion|desbloqueo)`,
    stated: { DIGITS: 4, MIXED: 4, WORD: NEVER },
    beside: { DIGITS: 4, MIXED: 5, WORD: NEVER },
  },
  token: {
    names: "tokens? secretos? secrets?",
    stated: { DIGITS: 6, MIXED: 8, WORD: NEVER },
    beside: { DIGITS: 6, MIXED: 8, WORD: NEVER },
  },
};

const QUALIFIERS = `de del la el los las mi su tu sus mis para al the my your of for to acceso ingreso entrada
  seguridad portal portales app aplicacion aplicativo correo correos email mail gmail hotmail outlook cuenta usuario
  user wifi wi_fi red internet pagina web sitio plataforma sistema banco bancaria bancolombia davivienda nequi
  daviplata cajero tarjeta debito credito celular telefono whatsapp facebook instagram virtual citas eps ips paciente
  dinamica temporal nueva nuevo actual anterior vieja antigua personal secreta privada segunda primera account login
  registro admin administrador computador equipo numero no\\.? nro\\.? salud mia que uso tengo puse me nos
  dieron enviaron mandaron asignaron llego llega sms mensaje texto por provisional inicial predeterminada
  mio siempre en a recibido enviado generado recuerdo manejo escribi anote invente digito utilizo un este otp yo puse
  pongo registre`;

const NAMES = Object.entries(kinds)
  .map(([kind, { names }]) => `(?<${kind}>${anyOf(names)})`)
  .join("|");
const sign = String.raw`["'“”«»‘’*\x60)\]]{0,3}\s?(?:[:=]{1,2}>?|->|\u2192)\s?`;
const copula = String.raw`\s(?:es|era|fue|ha sido|sigue siendo|sera|seria|son|is|was)(?:\s(?:la|el|esta|este|siguiente|the)){0,3}\s?:?\s`;
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

/** Beside the name of a credential, and not stated, these are years and Colombian telephone numbers. */
const yearsOrTelephone = /^(?:(?:19|20)[0-9]{2}(?:-(?:19|20)?[0-9]{2})?|(?:57)?(?:3[0-9]|60)[0-9]{8})\W?$/;

const atDoor = new RegExp(`^${ofDoor}`, "iu");

/**
 * Whether a plain text holds a credential: a word for one with a value that looks like it, in Spanish or English
 * (`clave: abc123`, `mi contraseña es X`, `X es mi clave`), a name of a user with its password, a code that came by
 * message, or a token or key that is known by its shape. Complaints about passwords, `la clave del éxito`, the code of a
 * door and `token de turno A23` hold none.
 */
export function containsCredential(plain: string): boolean {
  return (
    containsKeyFormat(plain) ||
    containsLogin(plain) ||
    containsToldSecret(plain) ||
    Array.from(plain.matchAll(phrase)).some(({ groups = {} }) => isSecret(groups)) ||
    Array.from(plain.matchAll(reversed)).some(({ groups = {} }) => isSecret(groups))
  );
}

function isSecret(groups: Groups): boolean {
  const { value: raw = "", rest = "", whose, that, statement } = { ...groups };
  const how = statement === undefined && whose === undefined ? "beside" : "stated";
  if (atDoor.test(rest) || (how === "beside" && yearsOrTelephone.test(raw))) return false;
  const found = readSecretValue(raw, rest.trimStart().split(" ", 1)[0] ?? "");
  const [name, kind] = Object.entries(kinds).find(([each]) => groups[each] !== undefined) ?? [];
  if (found === undefined || kind === undefined || found.length < kind[how][found.shape]) return false;
  return found.shape !== "WORD" || (that === undefined && (name !== "key" || isWordAsKey(raw, whose)));
}

/** `la clave es la paciencia` tells of a means, `mi clave es colombia` of a password. */
function isWordAsKey(raw: string, whose: string | undefined): boolean {
  return !isMeans(raw) && (whose === undefined || /^(?:mi|my)$/i.test(whose));
}
