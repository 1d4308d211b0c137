import type { Principal, Transaction } from "../../../call.js";
import { readRecords } from "../../columns.js";
import { liveHolds } from "../../held-until.js";
import { sql } from "../../sql.js";
import { LIVE_STATUSES } from "./appointment-status.js";
import { BLOCKED_HOURS } from "./blocked-hours.js";

/** The filters of an occupancy query. */
export interface OccupancyQuery {
  /** Slots and appointments start at `from` or later and before `to`. */
  readonly from: Date;
  readonly to: Date;
  /** The current time. A free slot that starts later counts as open or held. Other free slots count as passed. */
  readonly now: Date;
  readonly programId: string | undefined;
  readonly practitionerId: string | undefined;
  readonly locationId: string | undefined;
  /** The maximum number of rows. */
  readonly limit: number;
}

/**
 * Occupancy of a practitioner in a program on a local date, and the capacity of the program on that date. `open`,
 * `held` and `passed` count free slots, each slot once. `booked` and `displaced` count appointments, each appointment
 * once.
 */
export interface OccupancyRecord {
  /** YYYY-MM-DD, local in America/Bogota. */
  readonly localDate: string;
  readonly programId: string;
  readonly locationId: string;
  readonly practitionerId: string;
  /** The number of free slots that start later than now and that no hold reserves. `held` counts the reserved ones. */
  readonly open: number;
  readonly held: number;
  readonly passed: number;
  readonly booked: number;
  readonly displaced: number;
  /**
   * The number of minutes in which schedule blocks overlap the program's hours. The rules of the program define its
   * hours.
   */
  readonly blockedMinutes: number;
  /**
   * The sum of the daily capacities of the program's active rules. A rule counts only if at least one of its free slots
   * or appointments on the date matches the query. The sum is the same in all rows of a program and date.
   */
  readonly capacity: number;
  readonly capacityLeft: number;
}

/**
 * Returns at most `query.limit` rows for the programs that the principal sees, ordered by local date, program and
 * practitioner. One statement reads slots, appointments, holds and blocks, so all numbers are from one instant.
 *
 * An appointment counts for its own date and program, even if its slot is no longer in the schedule. Appointments with
 * status CANCELLED or NO_SHOW do not count.
 */
export function readOccupancy(
  transaction: Transaction,
  { organizationId, companyId }: Principal,
  query: OccupancyQuery,
): Promise<OccupancyRecord[]> {
  const bindings = {
    ...query,
    tenantId: transaction.tenantId,
    organizationId: organizationId ?? null,
    companyId: companyId ?? null,
    programId: query.programId ?? null,
    practitionerId: query.practitionerId ?? null,
    locationId: query.locationId ?? null,
  };
  return readRecords(transaction, sql.raw(OCCUPANCY, bindings));
}

const begins = (row: string) => `${row}.starts_at >= :from::timestamptz AND ${row}.starts_at < :to::timestamptz
  AND (:practitionerId::uuid IS NULL OR ${row}.practitioner_id = :practitionerId::uuid)`;

/**
 * SQL of {@link readOccupancy}. Subtracts the held slots from the open slots. A slot that has not begun is held if a
 * live hold of its practitioner overlaps it, also a hold in another program.
 */
const OCCUPANCY = `WITH p AS MATERIALIZED (
    SELECT id, location_id, active FROM programs WHERE tenant_id = :tenantId
      AND (organization_id IS NULL OR organization_id = :organizationId::uuid)
      AND (company_id IS NULL OR company_id = :companyId::uuid)
      AND (:programId::uuid IS NULL OR id = :programId::uuid)
      AND (:locationId::uuid IS NULL OR location_id = :locationId::uuid)
  ), kept AS MATERIALIZED (
    SELECT s.appointment_id FROM p JOIN slots s ON s.tenant_id = :tenantId AND s.program_id = p.id AND s.retained
    WHERE ${begins("s")}
  ), ${BLOCKED_HOURS}, found AS MATERIALIZED (
    SELECT s.program_id, s.practitioner_id, s.local_date, s.rule_id,
      count(*) FILTER (WHERE s.starts_at > :now::timestamptz) AS open, 0 AS held,
      count(*) FILTER (WHERE s.starts_at <= :now::timestamptz) AS passed, 0 AS booked, 0 AS displaced,
      0 AS blocked
    FROM p JOIN slots s ON s.tenant_id = :tenantId AND s.program_id = p.id AND s.appointment_id IS NULL
    WHERE ${begins("s")} GROUP BY 1, 2, 3, 4
    UNION ALL
    SELECT s.program_id, s.practitioner_id, s.local_date, s.rule_id, -count(DISTINCT s.id), count(DISTINCT s.id), 0, 0, 0, 0
    FROM p JOIN appointment_holds h ON h.tenant_id = :tenantId AND h.ended_at IS NULL AND h.expires_at > :now::timestamptz
    JOIN slots s ON s.tenant_id = :tenantId AND s.program_id = p.id AND s.practitioner_id = h.practitioner_id
      AND s.appointment_id IS NULL AND NOT s.retained AND s.rule_id IS NOT NULL AND s.starts_at > :now::timestamptz
      AND s.starts_at > h.starts_at - interval '24 hours' AND s.starts_at < h.ends_at AND s.ends_at > h.starts_at
    WHERE ${begins("s")} GROUP BY 1, 2, 3, 4
    UNION ALL
    SELECT a.program_id, a.practitioner_id, a.local_date, a.rule_id, 0, 0, 0,
      count(*) FILTER (WHERE a.id NOT IN (SELECT appointment_id FROM kept)),
      count(*) FILTER (WHERE a.id IN (SELECT appointment_id FROM kept)), 0
    FROM p JOIN appointments a ON a.tenant_id = :tenantId AND a.program_id = p.id
    WHERE a.status IN ${LIVE_STATUSES} AND ${begins("a")} GROUP BY 1, 2, 3, 4
    UNION ALL
    SELECT program_id, practitioner_id, local_date, NULL, 0, 0, 0, 0, 0, minutes FROM blocked
  ), capacity AS MATERIALIZED (
    SELECT d.program_id, d.local_date, sum(r.daily_capacity) AS capacity,
      sum(greatest(r.daily_capacity - coalesce(c.booked + ${liveHolds("c.held", ":now::timestamptz")}, 0), 0)) AS capacity_left
    FROM (SELECT DISTINCT program_id, local_date, rule_id FROM found) AS d
    JOIN program_rules r ON r.tenant_id = :tenantId AND r.id = d.rule_id AND r.active
    LEFT JOIN day_counters c ON c.tenant_id = :tenantId AND c.rule_id = d.rule_id AND c.local_date = d.local_date
    GROUP BY 1, 2
  )
  SELECT f.local_date AS "localDate", f.program_id AS "programId", p.location_id AS "locationId",
    f.practitioner_id AS "practitionerId", sum(f.open)::integer AS open, sum(f.held)::integer AS held, sum(f.passed)::integer AS passed,
    sum(f.booked)::integer AS booked, sum(f.displaced)::integer AS displaced, sum(f.blocked)::integer AS "blockedMinutes",
    coalesce(c.capacity, 0)::integer AS capacity, coalesce(c.capacity_left, 0)::integer AS "capacityLeft"
  FROM found f JOIN p ON p.id = f.program_id
  LEFT JOIN capacity c ON c.program_id = f.program_id AND c.local_date = f.local_date
  GROUP BY f.local_date, f.program_id, p.location_id, f.practitioner_id, c.capacity, c.capacity_left
  ORDER BY f.local_date, f.program_id, f.practitioner_id LIMIT :limit`;
