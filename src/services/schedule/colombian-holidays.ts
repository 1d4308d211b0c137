import { getHolidaysForYear } from "colombian-holidays";

/** A legal holiday of Colombia. */
export interface LegalHoliday {
  /** The date on which the holiday is celebrated, YYYY-MM-DD. */
  readonly date: string;
  /** The name in Spanish. The names of two holidays on one date are joined with " / ". */
  readonly name: string;
}

/** Returns the legal holidays of a year from 1984 to 2100, ordered by date. Two holidays on one date are one entry. */
export function legalHolidays(year: number): LegalHoliday[] {
  const names = new Map<string, string[]>();
  for (const { celebrationDate, name } of getHolidaysForYear(year)) {
    names.set(celebrationDate, [...(names.get(celebrationDate) ?? []), name.es]);
  }
  return [...names]
    .map(([date, all]) => ({ date, name: all.toSorted().join(" / ") }))
    .toSorted((a, b) => (a.date < b.date ? -1 : 1));
}
