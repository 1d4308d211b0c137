import { clinicTimeZone } from "../../../scheduling/local-clock.js";

const local = (instant: string) => `(${instant} AT TIME ZONE '${clinicTimeZone}')`;
const inTime = "b.cancelled_at IS NULL AND b.ends_at > :from::timestamptz AND b.starts_at < :to::timestamptz";

/**
 * SQL for the CTE `blocked` and the CTEs that it needs. `blocked` has a row for each local date, program and
 * practitioner with blocked hours. Its column `minutes` is the number of minutes in which schedule blocks overlap the
 * program's hours:
 * - Overlapping blocks count once. Cancelled blocks do not count.
 * - The rules of the program define its hours. Inactive programs, locations, rules and practitioners have no hours.
 * - A rule also decides whether the program is open on a holiday. The SQL must agree with `isOpenOn`.
 *
 * Put the SQL after a CTE `p` of programs (id, location_id, active). The SQL binds `tenantId`, `practitionerId` (NULL
 * for all practitioners), and the instants `from` and `to`. Both must be the start of a local date. The SQL covers the
 * local dates from the date of `from` to the day before the date of `to`.
 */
export const BLOCKED_HOURS = `staff AS MATERIALIZED (
    SELECT p.id AS program_id, p.location_id, w.practitioner_id FROM p
    JOIN locations l ON l.tenant_id = :tenantId AND l.id = p.location_id AND l.active
    JOIN program_practitioners w ON w.tenant_id = :tenantId AND w.program_id = p.id
    JOIN practitioners m ON m.tenant_id = :tenantId AND m.id = w.practitioner_id AND m.active
    WHERE p.active AND (:practitionerId::uuid IS NULL OR w.practitioner_id = :practitionerId::uuid)
  ), block AS MATERIALIZED (
    SELECT s.program_id, s.practitioner_id, b.starts_at, b.ends_at FROM staff s
    JOIN schedule_blocks b ON b.tenant_id = :tenantId AND b.practitioner_id = s.practitioner_id AND ${inTime}
    UNION ALL
    SELECT s.program_id, s.practitioner_id, b.starts_at, b.ends_at FROM staff s
    JOIN schedule_blocks b ON b.tenant_id = :tenantId AND b.program_id = s.program_id AND ${inTime}
    UNION ALL
    SELECT s.program_id, s.practitioner_id, b.starts_at, b.ends_at FROM staff s
    JOIN schedule_blocks b ON b.tenant_id = :tenantId AND b.location_id = s.location_id AND ${inTime}
  ), piece AS MATERIALIZED (
    SELECT b.program_id, b.practitioner_id, day::date AS local_date,
      range_agg(hours * tstzrange(b.starts_at, b.ends_at)) AS pieces
    FROM block b JOIN program_rules r ON r.tenant_id = :tenantId AND r.program_id = b.program_id AND r.active
    CROSS JOIN LATERAL generate_series(
      greatest(${local("b.starts_at")}::date, ${local(":from::timestamptz")}::date, r.valid_from)::timestamp,
      least(${local("b.ends_at")}::date, ${local(":to::timestamptz")}::date - 1, r.valid_to)::timestamp,
      interval '1 day') AS day
    CROSS JOIN LATERAL (SELECT tstzrange(${local("(day + r.starts_at_local)")}, ${local(`(CASE
        WHEN r.ends_at_local >= make_time(23, 59, 0) THEN day + interval '1 day' ELSE day + r.ends_at_local END)`)}) AS hours
    ) AS opening
    LEFT JOIN holidays h ON h.tenant_id = :tenantId AND h.date = day::date AND h.active
    WHERE extract(isodow FROM day) = ANY (r.weekdays) AND hours && tstzrange(b.starts_at, b.ends_at)
      AND CASE r.holiday_policy WHEN 'INCLUDE' THEN true
        WHEN 'SKIP' THEN h.id IS NULL AND day::date <> ALL (r.holiday_dates)
        ELSE h.id IS NULL OR day::date = ANY (r.holiday_dates) END
    GROUP BY 1, 2, 3
  ), blocked AS MATERIALIZED (
    SELECT program_id, practitioner_id, local_date, (
      SELECT floor(sum(extract(epoch FROM upper(part) - lower(part))) / 60) FROM unnest(pieces) AS part
    ) AS minutes FROM piece
  )`;
