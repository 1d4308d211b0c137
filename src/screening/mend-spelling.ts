import { createMeantWord, soundOf } from "./spelling.js";

const words = `diagnostico diagnosticos diagnostica diagnosticas diagnosticaron diagnosticado diagnosticada diagnosticar
  contrasena contrasenas password usuario usuarios tarjeta`.split(/\s+/);
const bySound = new Map(words.map((word) => [soundOf(word), word]));
const meantWord = createMeantWord(bySound.keys());
const keys = /(?<![a-z0-9])(?:clabe|clav|klave|clve|cleve|calve|clabes|klaves)(?![a-z0-9])/gi;
const longWord = /(?<![a-z0-9])[a-z]{6,16}(?![a-z0-9])/gi;

/**
 * Returns a plain text in which words that can introduce a credential, a card number or a diagnosis are spelled
 * correctly: `clave` for `clabe`.
 */
export function mendSpelling(plain: string): string {
  return plain.replace(keys, "clave").replace(longWord, (word) => {
    const lower = word.toLowerCase();
    const meant = bySound.get(meantWord(soundOf(lower)) ?? "") ?? lower;
    return meant === lower ? word : meant;
  });
}
