/** Endings of Spanish names of conditions, after at least four other letters: `itis` in `tendinitis`. */
const endings = `itis osis iasis emia patia algia plejia paresia penia megalia ectasia trofia oma malacia rragia
  tiroidismo`;
const ending = new RegExp(`^[a-z]{4,30}(?:${endings.trim().split(/\s+/).join("|")})s?$`);

/**
 * Everyday words and names of laboratory tests that have such an ending but do not name a condition: `dosis`,
 * `glicemia`.
 */
const ordinary: ReadonlySet<string> = new Set(
  `dosis sobredosis diagnosis prognosis hipnosis metamorfosis simbiosis osmosis apoteosis academia academias bohemia
  epidemia epidemias endemia pandemia pandemias blasfemia blasfemias glicemia glicemias glucemia glucemias colesterolemia
  uricemia calcemia premia apremia simpatia simpatias antipatia antipatias empatia apatia telepatia homeopatia osteopatia
  naturopatia nostalgia nostalgias sintoma sintomas diploma diplomas idioma idiomas paloma palomas axioma axiomas genoma
  cromosoma cromosomas autonoma autonomas economa agronoma gastronoma policroma monocroma carcoma aplomas desploma retoma
  retomas maroma maromas aroma aromas redoma`.split(/\s+/),
);

/**
 * Returns whether a word ends like the name of a condition: `tendinitis`, `cardiopatia`. Returns false for everyday
 * words such as `sobredosis`. `word` must be in lower case without accents.
 */
export function hasMedicalEnding(word: string): boolean {
  return ending.test(word) && !ordinary.has(word);
}
