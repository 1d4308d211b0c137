import { createMeantWord, soundOf } from "./spelling.js";

/**
 * Names of secrets, and the words `usuario` and `tarjeta`, which often stand beside secrets. Some people disguise these
 * words (`cl4ve`), so that filters do not find them.
 */
const nouns = ["contrasena", "contrasenas", "password", "passwd", "passcode", "clave", "claves", "usuario", "tarjeta"];
const bySound = new Map(nouns.map((noun) => [soundOf(noun), noun]));
const meantWord = createMeantWord(bySound.keys());

/** Matches 4 to 64 single letters or digits with separators between them: `c l a v e`. */
const spacedOut = /(?<![a-z0-9])[a-z0-9](?:[ ._*~\p{Pd}]{1,3}[a-z0-9]){3,63}(?![a-z0-9])/giu;
const hiddenNoun =
  /^(?<before>.*?)(?<noun>contrasen?as?|password|[ck]la[vb]es?|usuario)(?:es|is|was|era)?(?<after>.*)$/;

/**
 * Matches a word of 4 to 14 letters, digits, `@` and `$` that does not begin with a digit: `p4ssw0rd`. Does not match
 * directly after `:`, `=`, `>`, `es` or a similar verb, because the word there is a value and not a disguised name of a
 * secret: `mi clave es p4ssw0rd`.
 */
const disguised = /(?<![a-z0-9@$])(?<!(?:[:=>]|\s(?:es|is|era|fue|was))\s?)[a-z@$][a-z0-9@$]{3,13}(?![a-z0-9@$])/gi;
const letters: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "l",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  $: "s",
};

/** Long names of secrets, each with a pattern that matches the name with separators inside: `con tra sena`. */
const inPieces = ["contrasena", "contrasenas", "password", "passcode"].map(
  (noun) =>
    [noun, new RegExp(`(?<![a-z0-9])(?!${noun})${Array.from(noun).join("[ ._-]?")}(?![a-z0-9])`, "gi")] as const,
);

/**
 * Returns a plain text with the disguised words in normal spelling:
 * - Names of secrets, and `usuario`: `pass word`, `p a s s w o r d` and `p4ssw0rd` become `password`. Single characters
 *   after a name in single letters become its value: `c l a v e 4 4 2 1` becomes `clave: 4421`.
 * - `tarjeta`, only if digits or signs replace its letters: `t4rjeta` becomes `tarjeta`.
 */
export function showHiddenWords(plain: string): string {
  const whole = inPieces.reduce(
    (text, [noun, pieces]) => text.replace(pieces, noun),
    plain.replace(spacedOut, together),
  );
  return whole.replace(disguised, asLetters);
}

function together(run: string): string {
  const word = run.replace(/[^a-z0-9]/gi, "").toLowerCase();
  const { before = "", noun, after = "" } = hiddenNoun.exec(inLetters(word))?.groups ?? {};
  if (noun === undefined) return run;
  const value = word.slice(word.length - after.length);
  return `${before} ${noun}${value === "" ? "" : `: ${value}`}`.trimStart();
}

function asLetters(word: string): string {
  if (!/[0-9@$]/.test(word)) return word;
  return bySound.get(meantWord(soundOf(inLetters(word))) ?? "") ?? word;
}

function inLetters(word: string): string {
  return word.toLowerCase().replace(/[013457@$]/g, (sign) => letters[sign] ?? sign);
}
