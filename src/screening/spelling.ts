/**
 * Spellings and their replacements, in the order in which {@link soundOf} applies them. Spellings that sound alike in
 * Colombia get the same replacement: `z`, and `c` before `e`, become `s`.
 */
const sounds: readonly (readonly [written: RegExp, sound: string])[] = [
  [/ch/g, "4"],
  [/ph/g, "f"],
  [/h/g, ""],
  [/qu(?=[ei])|q|k/g, "k"],
  [/x/g, "ks"],
  [/c(?=[eiy])|z/g, "s"],
  [/c/g, "k"],
  [/gu(?=[ei])/g, "g"],
  [/g(?=[ei])/g, "j"],
  [/v|w/g, "b"],
  [/ll/g, "y"],
  [/m(?=[bp])/g, "n"],
  [/y$/g, "i"],
  [/([a-z])\1+/g, "$1"],
];
const LEAST_LENGTH = 6;
const MOST_LENGTH = 24;

/**
 * Returns the sound of a word. Words that are pronounced alike have the same sound: `ipertencion` and `hipertension`.
 * `word` must be in lower case without accents.
 */
export function soundOf(word: string): string {
  return sounds.reduce((text, [written, sound]) => text.replace(written, sound), word);
}

/**
 * Takes the sound of a word ({@link soundOf}). Returns the known sound that is equal or differs by one letter;
 * undefined if there is none.
 */
export type MeantWord = (sound: string) => string | undefined;

/**
 * Creates a search among known sounds ({@link soundOf}). A sound matches a known sound in two cases:
 * - They are equal.
 * - A single letter after the first is missing, superfluous, wrong or moved. The sound must have 6 to 24 letters, and
 *   the known sound at least 6.
 *
 * The search leaves out one letter of each sound and compares the remaining letters (symmetric-delete spelling
 * correction). So a search with many known sounds takes no more steps than a search with few.
 */
export function createMeantWord(known: Iterable<string>): MeantWord {
  const words = new Set(known);
  const neighbours = new Map<string, string>();
  for (const word of words) {
    if (word.length >= LEAST_LENGTH) for (const rest of withoutOneLetter(word)) neighbours.set(rest, word);
  }
  return (sound) => {
    if (words.has(sound)) return sound;
    if (sound.length < LEAST_LENGTH || sound.length > MOST_LENGTH) return undefined;
    for (const rest of withoutOneLetter(sound)) {
      const meant = words.has(rest) && rest.length >= LEAST_LENGTH ? rest : neighbours.get(rest);
      if (meant !== undefined) return meant;
    }
    return neighbours.get(sound);
  };
}

function withoutOneLetter(word: string): string[] {
  return Array.from(word.slice(1), (_, index) => word.slice(0, index + 1) + word.slice(index + 2));
}
