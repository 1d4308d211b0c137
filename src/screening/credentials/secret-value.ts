import { anyOf } from "../word-patterns.js";

/**
 * The shape of a value that may be a secret:
 * - DIGITS (`4421`): only digits, points and hyphens.
 * - WORD (`luna`): only letters.
 * - MIXED (`luna7`, `perro.verde`): at least two of letters, digits and signs, or words joined by points, hyphens or
 *   underscores.
 */
export type ValueShape = "DIGITS" | "MIXED" | "WORD";

/**
 * A value that may be a secret. `length` is the number of digits for DIGITS, and of characters for the other shapes.
 */
export interface SecretValue {
  readonly shape: ValueShape;
  readonly length: number;
}

/**
 * Matches a value that is not a secret: a time (`8am`), a quantity (`500mg`), an ordinal, an amount of money, a date, a
 * version, a telephone number with a plus sign, or an email or web address.
 */
const ordinary = new RegExp(
  [
    String.raw`^[0-9]{1,2}(?:[:.][0-9]{2})?(?:am|pm|a\.?m|p\.?m|h|hs|hrs?|horas?)$`,
    "^[0-9]{1,4}(?:mg|ml|kg|gr|cm|mm|gb|mb|dias?|veces|min|mins|minutos?|pesos|digitos?|caracteres)$",
    "^[0-9]{1,3}(?:er|ra|ro|da|do|ta|to|va|vo|ma|mo|na|no|ero|era|st|nd|rd|th)s?$",
    "^(?:[$]|cop|usd)[0-9.,]{1,20}$|^[0-9.,]{1,20}(?:[$%]|cop|usd)$",
    "^[0-9]{1,2}[./-][0-9]{1,2}[./-](?:[0-9]{2}){1,2}$|^[0-9]{4}[./-][0-9]{1,2}[./-][0-9]{1,2}$",
    String.raw`^v[0-9.]{1,20}$|^\+[0-9]+$`,
    String.raw`@[^@]{0,200}[.]|^(?:https?:|www\.)|\.(?:com|co|org|net|gov|edu|info)(?:[./]|$)`,
  ].join("|"),
  "i",
);

/**
 * Matches a word that shows, directly after a number, that this number is a quantity and not a secret: `veces` in
 * `1000 veces`.
 */
const counted = new RegExp(
  `^${anyOf(`veces horas? dias? semanas? meses anos minutos? segundos? personas? usuarios pacientes? intentos? pesos
    mil millones caracteres digitos letras numeros citas llamadas times
    days hours characters digits letters`)}[^a-z]*$`,
  "i",
);

const clauseGoesOn =
  /^(?!(?:y|e|o|a|and|para|pa|pero|gracias|usuario|no|ni|que|q|k|en|con|por|x|todo|porque|desde|but|because|please|thanks|so|when|or|for|to)[^a-z]*$)./i;

/**
 * Ordinary words that describe a password but are not the password itself: `la clave es larga`. Ordinary words with an
 * ending of {@link ORDINARY_ENDING} need not be in this list.
 */
const SAID_OF_PASSWORDS =
  anyOf(`nueva nuevo vieja viejo antigua antiguo larga largo fuerte debil mala malo buena bueno misma
  mismo igual otra otro esa ese esta este eso esto aquella facil dificil segura seguro insegura simple sencilla unica
  unico personal mia mio suya ninguna ninguno nada nunca siempre urgente ayuda problema problemas error errores cambio
  olvido no si ya gracias favor aqui alli asi mal bien importante secreta secreto larguisimo rara pesima pesimo lenta
  lento inutil usuario correo plataforma cedula documento nombre apellido nacimiento telefono cumpleanos contrasena
  clave password token wrong invalid incorrect expired correct required not missing lost forgotten weak strong
  new old same reset que como cuando donde cual quien porque nadie todos todas alguien ellos ella ustedes hoy ayer
  manana minimo maximo celular facebook alguna alguno debe tiene esta estan sale dice personal normal temporal actual
  virtual digital ilegal fatal inicial principal oficial original general real legal especial manual util movil agil
  hostil peligrosa engorrosa sospechosa tediosa defectuosa espantosa horrible odiosa correcta correcto incorrecta
  incorrecto exacta exacto corta corto cierta cierto injusta robusta distinta distinto abierta abierto perfecta perfecto
  directa estricta molesta puesta compuesta resuelta lista listo vista obligatoria obligatorio aleatoria provisoria
  transitoria definitiva definitivo exclusiva excesiva alternativa repetitiva absurda absurdo invalida invalido
  privada publica publico rejected denied blocked locked changed broken refused accepted recognized recognised working
  valid posted visible fine easy hard complicated simple always never still gone unknown public private safe secure unsafe different
  requested needed annoying here there now today yesterday nothing something mine yours please thanks okay good numerica numerico alfanumerica automatica automatico generica generico dinamica dinamico web app portal`);
/**
 * Endings of ordinary words, mostly participles, adjectives and infinitives: `vencida`, `posible`, `cambiar`. Such
 * words do not count as passwords. `-er` counts only after some letters: infinitives match, `tiger` and `flower` do
 * not.
 */
const ORDINARY_ENDING = "(?:[ai]d[oa]|ble|ente|ante|cion|mente|isim[oa]|ar|(?:[bcdens]|[lo]v|og)er|ir)s?";
const ordinaryWord = new RegExp(`^(?:${SAID_OF_PASSWORDS}|[a-z]{0,30}${ORDINARY_ENDING})$`, "i");

/**
 * Words that name a means to success after `la clave es`, and are therefore not a password: `la clave es paciencia`.
 * The list omits nouns whose endings {@link means} recognizes, such as `puntualidad`.
 */
const MEANS = anyOf(`paciencia respeto orden aseo amor actitud trato escucha equipo tiempo compromiso disciplina rapidez
  servicio servicios medico medicos doctor doctores gente personal persona personas humanos humanidad dialogo confianza
  empatia higiene limpieza ayuno control controles ejemplo esfuerzo trabajo exito apoyo cuidado cuidados descanso dieta
  ejercicio agua orientacion madrugada constancia fe dios familia citas turno turnos fila ficha fichas sonrisa alegria
  calma tolerancia transparencia honradez justicia liderazgo vocacion etica cultura interes metodo secreto base todo
  enfermeras enfermera recepcion gerente sistema tecnologia`);
const means = new RegExp(
  `^(?:${MEANS}|[a-z]{1,30}(?:[aeiou]dad|[ae]ncia|anza|ez|eza|[cs]ion|iento|ismo|tud|aje|ologia))[^a-z]*$`,
  "i",
);

/**
 * Returns whether a word names a means to success, such as `puntualidad`. Such a word is not a password: in
 * `la clave: puntualidad`, `clave` means the key to success.
 */
export function isMeans(word: string): boolean {
  return means.test(word);
}

/**
 * Returns the shape and the length of a value that may be a secret; undefined for ordinary text. `raw` is the text
 * between two spaces. `next` is the word after it, or empty.
 */
export function readSecretValue(raw: string, next: string): SecretValue | undefined {
  const value = raw.replace(/^["'“”«»‘’(<{[`]+/, "").replace(/["'“”«»‘’)>}\]`.,;:!?]+$/, "");
  if (ordinary.test(value)) return undefined;
  const digits = value.replace(/[.-]/g, "");
  if (/^[0-9]+$/.test(digits)) return counted.test(next) ? undefined : { shape: "DIGITS", length: digits.length };
  if (isMixed(value) || isJoined(value)) return { shape: "MIXED", length: value.length };
  const endsClause = raw !== value || !clauseGoesOn.test(next);
  if (!/^\p{L}+$/u.test(value) || !endsClause || ordinaryWord.test(value)) return undefined;
  return { shape: "WORD", length: value.length };
}

/**
 * Returns whether a value consists of words in lower case that are joined by points, hyphens or underscores:
 * `perro.verde`. Returns false if one of them is an ordinary word, because two sentences without a space between them
 * look the same: `larga.gracias`.
 */
function isJoined(value: string): boolean {
  if (!/^[a-z]{3,32}(?:[._-][a-z]{3,32}){1,5}$/.test(value)) return false;
  return !value.split(/[._-]/).some((word) => ordinaryWord.test(word) || means.test(word));
}

/** Returns whether a value has at least two of these: letters, digits, and signs that do not occur in words. */
function isMixed(value: string): boolean {
  return [/\p{L}/u, /[0-9]/, /[!@#$%^&*+=?~_]/].filter((kind) => kind.test(value)).length > 1;
}
