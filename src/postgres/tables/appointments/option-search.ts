import type { Principal, Statement, Transaction } from "../../../call.js";
import { prepared } from "../../prepared.js";
import { sql } from "../../sql.js";
import { windowOf, withSettings } from "../schedule/booking-windows.js";
import { busyTime } from "./busy-times.js";
import {
  freeSlots,
  HAS_RULE_THEN,
  namesOf,
  type OptionQuery,
  type Reach,
  type SearchShape,
  type SlotName,
  shapeOf,
  valuesOf,
} from "./free-slots.js";
import { type Offer, offeringPrograms } from "./offers.js";
import { runsFrom } from "./slot-runs.js";

/** A bookable time: one slot, or adjacent slots from the start of the first to the end of the last. */
export interface OptionRecord extends Offer {
  readonly slotId: string;
  /**
   * The highest `generation` of the slots of the option. Each change of a program's schedule increments the program's
   * generation. A new slot gets the current generation of its program.
   */
  readonly generation: number;
  readonly programId: string;
  readonly practitionerId: string;
  readonly startsAt: Date;
  readonly endsAt: Date;
  /**
   * The end of the patient's visit. It is the end of a slot. From then until `endsAt`, only the practitioner is busy.
   */
  readonly visitEndsAt: Date;
}

/**
 * How many slots a statement reads for each missing option of the page. The number is above 1, because at some slots
 * the patient or the practitioner is busy.
 */
const SLOTS_PER_OPTION = 1.5;
const MAX_GROWTH = 4;
/** A day, in seconds. */
const DAY = 86_400;

/**
 * Returns at most `query.limit` options, the earliest first. Each option meets these conditions:
 * - Its slots are free and bookable at `query.now`, and its day has capacity left.
 * - Its program offers the healthcare service to the principal, and its practitioner is active.
 * - The practitioner has no other appointment or live hold until the last slot ends.
 * - The patient has no other appointment or live hold until the visit ends. A buffer can follow the visit.
 *
 * One statement usually fills the page. If many people are busy or many days are full, further statements continue
 * where the last one stopped.
 */
export async function searchOptions(
  transaction: Transaction,
  principal: Principal,
  query: OptionQuery,
): Promise<OptionRecord[]> {
  const shape = shapeOf(query);
  const found: OptionRecord[] = [];
  let reach = firstReach(query, shape);
  for (;;) {
    const missing = query.limit - found.length;
    const rows = await transaction.rows<FoundRow>(statementOf(shape, principal, { ...query, limit: missing }, reach));
    for (const row of rows) if (row.slotId !== null) found.push(recordOf(row));
    const stop = rows[0] && timeOf(rows[0].stop);
    if (stop === undefined || stop >= query.to || found.length >= query.limit) return found;
    reach = nextReach(reach, stop, query.limit - found.length, missing);
  }
}

/**
 * Returns the time range and the number of slots that the first statement reads. The length of the range is:
 * - 28 days for a search for one practitioner, because a page of one practitioner needs many days
 * - 12 hours for any other search that is limited to parts of the day (such as the morning); no part of a day is longer
 * - 7 days for all other searches
 */
function firstReach({ from, after, limit }: OptionQuery, { isWindowed, isOfOne }: SearchShape): Reach {
  return {
    from: new Date(Math.max(from.getTime(), after?.startsAt.getTime() ?? 0)),
    wanted: Math.ceil(limit * SLOTS_PER_OPTION),
    stretch: isOfOne ? 28 * DAY : isWindowed ? DAY / 2 : 7 * DAY,
  };
}

/**
 * Returns the time range and the number of slots that the next statement reads. The fewer options the last statement
 * found, the more slots the next one reads. If the last one found fewer than about 40 % of the missing options, the
 * next one reads four times as many slots, and its range is eight times as long. Otherwise the range has the same
 * length.
 */
function nextReach({ wanted, stretch }: Reach, from: Date, missing: number, missingBefore: number): Reach {
  const growth = (2.5 * missing) / Math.max(missingBefore - missing, 1);
  const isScarce = growth >= MAX_GROWTH;
  return {
    from,
    wanted: Math.ceil(Math.max(missing * SLOTS_PER_OPTION, wanted * Math.min(growth, MAX_GROWTH))),
    stretch: isScarce ? stretch * 8 : stretch,
  };
}

/**
 * A row of the result of a search statement. The statement returns no row if no free slot is left. `stop` is the start
 * of the range that the next statement reads. `slotId` is null if the statement found no option. Times are milliseconds
 * since the epoch, because text would be slower to write and to read.
 */
type FoundRow = { readonly stop: number } & (OptionRow | { readonly slotId: null });
type OptionTimes = Readonly<Record<"startsAt" | "endsAt" | "visitEndsAt", number>>;
type OptionRow = Omit<OptionRecord, keyof OptionTimes> & OptionTimes;

function recordOf({ slotId, generation, programId, practitionerId, locationId, emergency, ...row }: OptionRow) {
  const times = { startsAt: timeOf(row.startsAt), endsAt: timeOf(row.endsAt), visitEndsAt: timeOf(row.visitEndsAt) };
  return { slotId, generation, programId, practitionerId, locationId, emergency, ...times };
}

function timeOf(ms: number): Date {
  return new Date(Math.round(ms));
}

type SearchName = SlotName | "appointmentId" | "patientId" | "limit" | "minutes" | "visitMinutes";
type SearchStatement = (values: Readonly<Record<SearchName, unknown>>) => Statement;

/** The search statements by {@link SearchShape}. Each statement is compiled when it is first needed. */
const statements = new Map<string, SearchStatement>();

function statementOf(shape: SearchShape, principal: Principal, query: OptionQuery, reach: Reach): Statement {
  const key = Object.values(shape).join();
  const known = statements.get(key);
  const bind = known ?? compile(shape);
  if (known === undefined) statements.set(key, bind);
  const { appointmentId = null, patientId = null, minutes, visitMinutes = null, limit } = query;
  return bind({ ...valuesOf(principal, query, reach), appointmentId, patientId, minutes, visitMinutes, limit });
}

function compile(shape: SearchShape): SearchStatement {
  const ownNames = [
    "appointmentId",
    "patientId",
    "limit",
    ...(shape.hasRuns ? (["minutes", "visitMinutes"] as const) : []),
  ] as const;
  return prepared<SearchName>([...namesOf(shape), ...ownNames], (names) => {
    const { opens, closes } = windowOf(names.now);
    const programs = withSettings(offeringPrograms(names, names, names.serviceId), names.tenantId)
      .whereRaw("(:includeEmergency::boolean OR NOT p.emergency)", names)
      .whereRaw("(:locationId::uuid IS NULL OR p.location_id = :locationId::uuid)", names)
      .select({ id: "p.id", location_id: "p.location_id", emergency: "p.emergency", opens, closes });
    if (shape.isWindowed) programs.whereRaw(HAS_RULE_THEN, names);
    const text = `WITH offered AS MATERIALIZED (:programs), ${freeSlots(shape)} ${options(shape)}`;
    return sql.raw(text, { ...names, programs });
  });
}

/**
 * Returns SQL for the options among the free slots. The query sorts the slots. Then it checks one slot after the other
 * until the page is full: the practitioner must be active and free, and the patient must be free. Each row is a
 * {@link FoundRow}. OFFSET 0 keeps the planner from merging the two steps.
 */
function options(shape: SearchShape): string {
  const sorted = `SELECT f.*, uuid_hash_extended(f.id, :seed) AS spread FROM found AS f
      WHERE f.starts_at < (SELECT at FROM stop) ORDER BY f.starts_at, spread, f.id`;
  const visitEndsAt = shape.hasRuns ? "s.visit_ends_at" : "s.ends_at";
  return `SELECT ${inMs("n.at")} AS stop, o.* FROM stop AS n LEFT JOIN (
    SELECT s.id AS "slotId", s.generation, s.program_id AS "programId", s.location_id AS "locationId", s.emergency,
      s.practitioner_id AS "practitionerId", ${inMs("s.starts_at")} AS "startsAt", ${inMs("s.ends_at")} AS "endsAt",
      ${inMs(visitEndsAt)} AS "visitEndsAt"
    FROM (${shape.hasRuns ? runsFrom(sorted) : sorted} OFFSET 0) AS s
    WHERE ${IS_PRACTITIONER_ACTIVE} AND ${IS_PRACTITIONER_FREE} AND ${isPatientFree(visitEndsAt)}
    ORDER BY s.starts_at, s.spread, s.id LIMIT :limit) AS o ON true
  ORDER BY o."startsAt", uuid_hash_extended(o."slotId", :seed), o."slotId"`;
}

function inMs(time: string): string {
  return `date_part('epoch', ${time}) * 1000`;
}

const IS_PRACTITIONER_ACTIVE =
  "(SELECT d.active FROM practitioners d WHERE d.tenant_id = :tenantId AND d.id = s.practitioner_id)";

/*
 * Operands of {@link busyTime}, which checks a slot with a few index lookups for each person. With NOT EXISTS instead,
 * PostgreSQL might join all slots and appointments.
 */
const SLOT = {
  tenantId: ":tenantId",
  startsAt: "s.starts_at",
  endsAt: "s.ends_at",
  exceptId: ":appointmentId::uuid",
  now: ":now::timestamptz",
};

const IS_PRACTITIONER_FREE = `(${busyTime("practitioner_id", { ...SLOT, personId: "s.practitioner_id" })}) IS NULL`;

const patient = { ...SLOT, personId: ":patientId::uuid" };

/**
 * SQL for the start and end of a time range that contains all found options. The range ends 24 hours after the last
 * possible start, because no option is longer than 24 hours.
 */
const ALL_SLOTS = {
  startsAt: "(SELECT starts_at FROM next)",
  endsAt: "(SELECT at + interval '24 hours' FROM stop)",
};

/**
 * Returns SQL for whether the patient is free at a slot; true if the search has no patient. If the patient is free in
 * the whole range {@link ALL_SLOTS}, the SQL does not check each slot.
 */
function isPatientFree(endsAt: string): string {
  return `(:patientId::uuid IS NULL OR (${busyTime("patient_id", { ...patient, ...ALL_SLOTS })}) IS NULL
      OR (${busyTime("patient_id", { ...patient, endsAt })}) IS NULL)`;
}
