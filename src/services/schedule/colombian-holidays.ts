import { getHolidaysForYear } from "colombian-holidays";

/** A day on which the law of Colombia gives a holiday. */
export interface LegalHoliday {
  /** YYYY-MM-DD, on which it is celebrated. */
  readonly date: string;
  /** In Spanish; the names joined where two holidays fall on one date. */
  readonly name: string;
}

/** The holidays that the law gives a year, 1984 to 2100, by date. Two on one date are one. */
export function legalHolidays(year: number): LegalHoliday[] {
  const names = new Map<string, string[]>();
  for (const { celebrationDate, name } of getHolidaysForYear(year)) {
    names.set(celebrationDate, [...(names.get(celebrationDate) ?? []), name.es]);
  }
  return [...names]
    .map(([date, all]) => ({ date, name: all.toSorted().join(" / ") }))
    .toSorted((a, b) => (a.date < b.date ? -1 : 1));
}
