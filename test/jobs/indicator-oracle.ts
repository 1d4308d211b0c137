import type { TestService } from "../support/service.js";

/** A stored appointment. Dates are local, YYYY-MM-DD. The names of groups are made of its attributes. */
interface Row extends Readonly<Record<"service_id" | "location_id" | "program_id", string>> {
  readonly payer_id: string | null;
  readonly first_visit: boolean | null;
  readonly requested: string;
  readonly assigned: string;
  readonly day: string;
  readonly due: string | null;
  readonly status: string;
  /** The minutes of the slots that the appointment occupies. */
  readonly minutes: number;
}

const DAY_MS = 86_400_000;
const ROWS = `SELECT service_id, location_id, program_id, payer_id, first_visit, local_date::text AS day, due_on::text AS due,
  CASE WHEN status IN ('PENDING', 'CONFIRMED', 'CHECKED_IN', 'ATTENDED') AND NOT overbooked
    THEN extract(epoch FROM ends_at - starts_at)::integer / 60 ELSE 0 END AS minutes,
  status, coalesce(requested_on, (created_at AT TIME ZONE 'America/Bogota')::date)::text AS requested,
  coalesce(assigned_on, (created_at AT TIME ZONE 'America/Bogota')::date)::text AS assigned FROM appointments`;

/** Sums the appointments of a tenant one by one, by a group of each month. Omits groups in which nothing counts. */
export async function sumByHand(
  { query }: TestService,
  tenantId: string,
  groupOf: (row: Row, month: string) => string,
) {
  const holidays = await query(`SELECT date::text FROM holidays WHERE active AND tenant_id = '${tenantId}'`);
  const closed = new Set(holidays.map(({ date }) => String(date)));
  const days = (from: string, to: string) => Math.max((Date.parse(to) - Date.parse(from)) / DAY_MS, 0);
  const isWorkday = (ms: number) =>
    new Date(ms).getUTCDay() % 6 !== 0 && !closed.has(new Date(ms).toISOString().slice(0, 10));
  const known = new Map<string, number>();
  const workdays = (from: string, to: string) => {
    const count = () =>
      Array.from({ length: days(from, to) }, (_, n) => Date.parse(from) + (n + 1) * DAY_MS).filter(isWorkday);
    if (!known.has(from + to)) known.set(from + to, count().length);
    return known.get(from + to) ?? 0;
  };
  const groups: Record<string, Record<string, number[]>> = {};
  for (const row of (await query(`${ROWS} WHERE tenant_id = '${tenantId}'`)) as unknown as Row[]) {
    const add = (name: string, date: string, ...waits: number[]) =>
      ((groups[groupOf(row, date.slice(0, 7))] ??= {})[name] ??= []).push(...waits);
    const addWait = (name: string, until: string) => {
      add(`${name} calendarDays`, until, days(row.requested, until));
      add(`${name} businessDays`, until, workdays(row.requested, until));
    };
    addWait("assigned", row.assigned);
    if (row.first_visit === true) addWait("assignedFirstVisits", row.assigned);
    if (row.status === "ATTENDED") addWait("attended", row.day);
    if (row.status === "ATTENDED" && row.first_visit === true) addWait("attendedFirstVisits", row.day);
    add("noShowCount", row.day, ...(row.status === "NO_SHOW" ? [1] : []));
    add("bookedMinutes", row.day, ...(row.minutes > 0 ? [row.minutes] : []));
    add("breachCount", row.day, ...(row.due !== null && row.day > row.due && row.status !== "CANCELLED" ? [1] : []));
  }
  const counts = (kinds: Record<string, number[]>) => Object.values(kinds).some(({ length }) => length > 0);
  return Object.fromEntries(Object.entries(groups).filter(([, kinds]) => counts(kinds)));
}

/** Returns count, sum, mean, median and 90th percentile of numbers. */
export function measure(numbers: readonly number[]) {
  const sorted = numbers.toSorted((one, other) => one - other);
  const [count, sum] = [sorted.length, sorted.reduce((total, each) => total + each, 0)];
  if (count === 0) return { count, sum };
  const [low = 0, high = 0] = [sorted[Math.floor((count - 1) / 2)], sorted[Math.floor(count / 2)]];
  return { count, sum, mean: sum / count, median: (low + high) / 2, p90: sorted[Math.ceil(0.9 * count) - 1] };
}
