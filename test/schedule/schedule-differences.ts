import type { ProgramRuleAttributes } from "../../src/scheduling/program-rule-attributes.js";
import { datesBetween } from "../scheduling/calendar-oracle.js";
import { opensByTheBook, slotsByTheBook } from "../scheduling/slot-oracle.js";
import type { TestService } from "../support/service.js";

interface ProgramRow {
  readonly id: string;
  /** Null if the schedule was never materialized. */
  readonly through: string | null;
  readonly rules: readonly (ProgramRuleAttributes & { readonly id: string })[];
  readonly practitioners: readonly string[];
  readonly holidays: readonly string[];
  readonly blocks: readonly BlockRow[];
  readonly slots: readonly SlotRow[];
}

interface BlockRow {
  /** Null for a block of the program or of its location. */
  readonly practitioner: string | null;
  readonly startsAt: string;
  readonly endsAt: string;
}

interface SlotRow {
  readonly rule: string;
  readonly practitioner: string;
  readonly startsAt: string;
  readonly endsAt: string;
  readonly retained: boolean;
}

const SCHEDULES = `SELECT p.id, p.materialized_through::text AS through,
  (SELECT coalesce(jsonb_agg(jsonb_build_object('id', r.id, 'active', r.active, 'dailyCapacity', r.daily_capacity,
     'slotDurationMinutes', r.slot_duration_minutes, 'startsAtLocal', r.starts_at_local, 'endsAtLocal', r.ends_at_local,
     'recurrence', r.recurrence, 'weekdays', r.weekdays, 'validFrom', r.valid_from, 'validTo', r.valid_to,
     'holidayDates', r.holiday_dates, 'holidayPolicy', r.holiday_policy)), '[]')
   FROM program_rules r WHERE r.tenant_id = p.tenant_id AND r.program_id = p.id) AS rules,
  (SELECT coalesce(jsonb_agg(w.practitioner_id), '[]')
   FROM program_practitioners w JOIN practitioners d ON d.tenant_id = w.tenant_id AND d.id = w.practitioner_id AND d.active
   JOIN locations l ON l.tenant_id = p.tenant_id AND l.id = p.location_id AND l.active
   WHERE w.tenant_id = p.tenant_id AND w.program_id = p.id AND p.active) AS practitioners,
  (SELECT coalesce(jsonb_agg(jsonb_build_object('practitioner', b.practitioner_id, 'startsAt', b.starts_at,
     'endsAt', b.ends_at)), '[]')
   FROM schedule_blocks b WHERE b.tenant_id = p.tenant_id AND b.cancelled_at IS NULL
     AND (b.practitioner_id IS NOT NULL OR b.location_id = p.location_id OR b.program_id = p.id)) AS blocks,
  (SELECT coalesce(jsonb_agg(h.date), '[]') FROM holidays h WHERE h.tenant_id = p.tenant_id AND h.active) AS holidays,
  (SELECT coalesce(jsonb_agg(jsonb_build_object('rule', s.rule_id, 'practitioner', s.practitioner_id,
     'startsAt', s.starts_at, 'endsAt', s.ends_at, 'retained', s.retained)), '[]')
   FROM slots s WHERE s.tenant_id = p.tenant_id AND s.program_id = p.id AND s.rule_id IS NOT NULL
     AND s.retained_by IS DISTINCT FROM 'PROGRAM_MOVED') AS slots
FROM programs p`;

const BOGOTA_OFFSET_MS = -5 * 3_600_000;
const HORIZON_MS = 90 * 86_400_000;

/**
 * Compares the future slots of each program, in one snapshot, with the slots that an independent oracle computes from
 * its rules, practitioners, holidays and blocks. Empty if they are equal. Otherwise describes up to three kinds of
 * slots:
 * - missing: expected up to the date that the schedule was materialized through
 * - stray: not expected
 * - retained but wanted: retained for an appointment, although a rule asks for them
 */
export async function scheduleDifferences({ query, now }: Pick<TestService, "query" | "now">): Promise<string[]> {
  const programs = (await query(SCHEDULES)) as unknown as readonly ProgramRow[];
  const nowMs = now();
  return programs.flatMap((program) => differencesOf(program, nowMs));
}

function differencesOf(program: ProgramRow, nowMs: number): string[] {
  if (program.through === null) return describe("stray", program.slots.filter(isAhead(nowMs)).map(keyOf));
  const promised = wantedSlots(program, nowMs, program.through);
  const wanted = new Set([...promised, ...wantedSlots(program, nowMs, dateOf(nowMs + HORIZON_MS))]);
  const ahead = program.slots.filter(isAhead(nowMs));
  const offered = new Set(ahead.filter(({ retained }) => !retained).map(keyOf));
  const retained = ahead.filter((slot) => slot.retained).map(keyOf);
  return [
    ...describe(
      "missing",
      promised.filter((key) => !offered.has(key)),
    ),
    ...describe(
      "stray",
      [...offered].filter((key) => !wanted.has(key)),
    ),
    ...describe(
      "retained but wanted",
      retained.filter((key) => wanted.has(key)),
    ),
  ];
}

function isAhead(nowMs: number): (slot: SlotRow) => boolean {
  return ({ startsAt }) => Date.parse(startsAt) > nowMs;
}

function wantedSlots({ rules, practitioners, holidays, blocks }: ProgramRow, nowMs: number, through: string): string[] {
  const closed = new Set(holidays);
  return rules.flatMap((rule) =>
    datesBetween(dateOf(nowMs), through)
      .filter((date) => opensByTheBook(rule, date, closed))
      .flatMap((date) => slotsByTheBook(rule, date))
      .filter(({ startsAt }) => Date.parse(startsAt) > nowMs)
      .flatMap((times) => practitioners.map((practitioner) => ({ ...times, rule: rule.id, practitioner })))
      .filter((slot) => !blocks.some((block) => isOver(block, slot)))
      .map(keyOf),
  );
}

function isOver(block: BlockRow, { practitioner, startsAt, endsAt }: Omit<SlotRow, "retained" | "rule">): boolean {
  if (block.practitioner !== null && block.practitioner !== practitioner) return false;
  return Date.parse(block.startsAt) < Date.parse(endsAt) && Date.parse(startsAt) < Date.parse(block.endsAt);
}

/** Returns the local date at an instant. */
function dateOf(ms: number): string {
  return new Date(ms + BOGOTA_OFFSET_MS).toISOString().slice(0, 10);
}

function keyOf({ rule, practitioner, startsAt, endsAt }: Omit<SlotRow, "retained">): string {
  const [start, end] = [startsAt, endsAt].map((time) => new Date(time).toISOString());
  return `${start}/${end} of rule ${rule} for ${practitioner}`;
}

function describe(what: string, keys: readonly string[]): string[] {
  return keys.length === 0 ? [] : [`${keys.length} slots ${what}: ${keys.toSorted().slice(0, 3).join(", ")}`];
}
