import { readFileSync } from "node:fs";

const forms: readonly ((name: string) => string)[] = [
  (name) => name,
  (name) => name.toUpperCase(),
  (name) => name.toLowerCase(),
  (name) => name.normalize("NFD"),
  (name) => name.normalize("NFD").replace(/\p{M}/gu, ""),
];
const particles = ["", "", "", "de ", "de la ", "del ", "de los "];
const prefixes = ["", "", "", "", "", "HIJO DE ", "HIJA DE ", "RN DE ", "Hijo 2 de ", "Dra. "];
const suffixes = ["", "", "", "", "", " Jr.", " III", " hijo", " (menor)", ", viuda de Gómez"];

/** Names that are easily mistaken for something else, one per line of test/screening/names/hard-names.txt. */
export const hardNames: readonly string[] = lines("hard-names");

/**
 * Returns `count` different full names as patients in Colombia have them, always the same ones. Each has one or two
 * given names and two surnames from test/screening/names, with particles, hyphens, initials and suffixes, in any letter
 * case, with and without accents.
 */
export function makeFullNames(count: number): string[] {
  const random = createRandom(20_261_123);
  const pick = (from: readonly string[]) => from[Math.floor(random() * from.length)] ?? "";
  const given = words("given-names");
  const surnames = words("surnames");
  const names = new Set<string>();
  while (names.size < count) {
    const first =
      random() < 0.7 ? `${pick(given)} ${random() < 0.1 ? `${pick(given).charAt(0)}.` : pick(given)}` : pick(given);
    const family = `${pick(particles)}${pick(surnames)}${random() < 0.1 ? "-" : " "}${pick(surnames)}`;
    const name = `${pick(prefixes)}${first} ${family}${pick(suffixes)}`;
    names.add(forms[Math.floor(random() * forms.length)]?.(name) ?? name);
  }
  return [...names];
}

/** Returns a generator of numbers from 0 to 1, exclusive, that depend only on the seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function words(file: string): string[] {
  return [...new Set(lines(file).join(" ").split(" "))].map((word) => word.replaceAll("_", " "));
}

function lines(file: string): string[] {
  return readFileSync(new URL(`names/${file}.txt`, import.meta.url), "utf8")
    .trim()
    .split("\n");
}
