/** What sounds alike in Colombia and is mixed up in writing, in the order in which it is made the same. */
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

/** The sound of a word in lower case without accents: equal for spellings that are said alike (`ipertencion`). */
export function soundOf(word: string): string {
  return sounds.reduce((text, [written, sound]) => text.replace(written, sound), word);
}

/** Finds the word that is meant by a misspelled one. */
export type MeantWord = (sound: string) => string | undefined;

/**
 * Makes the search for words by their sounds: equal, or, from six letters, the same but for one letter that is missing,
 * superfluous, wrong or moved, never the first one. It compares what is left of both when one letter is taken out (the
 * deletion neighbourhood of symmetric-delete spelling correction), so that a look-up takes as many steps as the word has
 * letters, however many words there are.
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
