const msPerDay = 86_400_000;

/** Returns each date from one to another, both inclusive. Slow, and independent of the code under test. */
export function datesBetween(from: string, to: string): string[] {
  const dates: string[] = [];
  for (let ms = Date.parse(`${from}T00:00:00Z`); ms <= Date.parse(`${to}T00:00:00Z`); ms += msPerDay) {
    dates.push(new Date(ms).toISOString().slice(0, 10));
  }
  return dates;
}

/** Returns the ISO weekday of a date. */
export function isoWeekday(date: string): number {
  return new Date(`${date}T00:00:00Z`).getUTCDay() || 7;
}

/** Returns the date a number of days after another, or before it if negative. */
export function shift(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * msPerDay).toISOString().slice(0, 10);
}
