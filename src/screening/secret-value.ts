import { anyOf } from "./word-patterns.js";

/** What a value looks like: a number, something that no language has as a word, or a word. */
export type ValueShape = "DIGITS" | "MIXED" | "WORD";

/** The shape of a value that may be a secret, and its length in digits or characters. */
export interface SecretValue {
  readonly shape: ValueShape;
  readonly length: number;
}

/** Times, dates, ordinals, amounts, telephones, addresses of mail and pages: with digits or signs, and yet no secrets. */
const ordinary = new RegExp(
  [
    String.raw`^[0-9]{1,2}(?:[:.][0-9]{2})?(?:am|pm|a\.?m|p\.?m|h|hs|hrs?|horas?)$`,
    "^[0-9]{1,3}(?:er|ra|ro|da|do|ta|to|va|vo|ma|mo|na|no|ero|era|st|nd|rd|th)s?$",
    "^[0-9]{1,4}(?:mg|ml|kg|gr|cm|mm|gb|mb|dias?|veces|min|mins|minutos?|pesos|digitos?|caracteres)$",
    String.raw`^(?:[$]|cop|usd)[0-9.,]{1,20}$|^[0-9.,]{1,20}(?:[$%]|cop|usd)$`,
    String.raw`^[0-9]{1,2}[./-][0-9]{1,2}[./-](?:[0-9]{2}){1,2}$|^[0-9]{4}[./-][0-9]{1,2}[./-][0-9]{1,2}$`,
    String.raw`^\+[0-9]+$|@[^@]{0,200}[.]`,
    String.raw`^(?:https?:|www\.)|\.(?:com|co|org|net|gov|edu|info)(?:[./]|$)`,
  ].join("|"),
  "i",
);

/** Words that follow `mi contraseña es` or `contraseña:` in a complaint about one; participles and the like go by ending. */
const ordinaryWord = new RegExp(
  `^(?:${anyOf(`nueva nuevo vieja viejo antigua antiguo larga largo fuerte debil mala malo buena bueno misma mismo igual
    otra otro esa ese esta este eso esto aquella facil dificil segura seguro insegura simple sencilla unica unico personal
    mia mio suya ninguna ninguno nada nunca siempre urgente ayuda problema problemas error errores cambio olvido no si ya
    gracias favor aqui alli asi mal bien pendiente vigente importante secreta secreto privada privado larguisima rara
    wrong invalid incorrect expired correct required not missing lost forgotten weak strong new old same reset
    llegar recibir cambiar recuperar restablecer olvidar usuario correo portal plataforma cedula documento
    nombre apellido nacimiento celular telefono cumpleanos pesima pesimo lenta lento larguisimo inutil terrible fatal`)}|[a-z]*(?:ad[oa]|id[oa]|ct[oa]|rt[oa]|st[oa]|ble|al|il|oria|iva|osa|ente|ante|cion|mente|ar|er|ir)s?)$`,
  "i",
);

/**
 * Judges what stands where a secret would: undefined for what reads as ordinary text. `raw` is what stands between two
 * blanks, `next` what follows it behind a blank.
 */
export function readSecretValue(raw: string, next: string): SecretValue | undefined {
  const value = raw.replace(/^["'“”«»‘’(<{[`]+/, "").replace(/["'“”«»‘’)>}\]`.,;:!?]+$/, "");
  if (ordinary.test(value)) return undefined;
  const digits = value.replace(/[.-]/g, "");
  if (/^[0-9]+$/.test(digits)) return isCounted(next) ? undefined : { shape: "DIGITS", length: digits.length };
  if (isMixed(value)) return { shape: "MIXED", length: value.length };
  const endsClause = raw !== value || next === "" || /^(?:y|e|and|para|pero|gracias|usuario)$/i.test(next);
  if (!/^\p{L}+$/u.test(value) || !endsClause || ordinaryWord.test(value)) return undefined;
  return { shape: "WORD", length: value.length };
}

function isMixed(value: string): boolean {
  const signs = /[!@#$%^&*+=?~_]/.test(value);
  return /\p{L}/u.test(value) && (/[0-9]/.test(value) || signs) ? true : /[0-9]/.test(value) && signs;
}

/** A number of something: `1000 veces`. */
function isCounted(next: string): boolean {
  return new RegExp(
    `^${anyOf(`veces horas? dias? semanas? meses anos minutos? segundos? personas? usuarios? pacientes? intentos? pesos mil
      millones caracteres digitos letras numeros citas llamadas times days hours characters digits letters`)}$`,
    "i",
  ).test(next);
}
