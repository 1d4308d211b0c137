/**
 * Returns a query for the slots at which an option of at least `:minutes` can start. The option consists of one or more
 * adjacent free slots of one rule and local date. `slots` is a query for free slots.
 *
 * Each row also has these columns:
 * - `ends_at`: the end of the option
 * - `generation`: the highest generation of its slots. Each change of a program's schedule increments the program's
 *   generation, and a new slot gets the current generation of its program.
 * - `visit_ends_at`: the end of the visit. The visit lasts `:visitMinutes`, or `:minutes` if `:visitMinutes` is NULL,
 *   rounded up to the end of a slot.
 *
 * All slots of a rule have the same length. So the query counts the slots of an option to find out whether one is
 * missing.
 */
export function runsFrom(slots: string): string {
  return `SELECT s.id, r.generation, s.program_id, s.practitioner_id, s.starts_at, r.ends_at, s.location_id, s.emergency,
      s.spread, s.starts_at + w.visit * (s.ends_at - s.starts_at) AS visit_ends_at
    FROM (${slots} OFFSET 0) AS s
    CROSS JOIN LATERAL (
      SELECT ceil(:minutes::integer * 60 / extract(epoch FROM s.ends_at - s.starts_at))::integer AS wanted,
        ceil(coalesce(:visitMinutes::integer, :minutes::integer) * 60 / extract(epoch FROM s.ends_at - s.starts_at))::integer
          AS visit) AS w
    CROSS JOIN LATERAL (
      SELECT count(*) AS slots, max(n.generation) AS generation, max(n.ends_at) AS ends_at FROM slots n
      WHERE n.tenant_id = :tenantId AND n.program_id = s.program_id AND n.practitioner_id = s.practitioner_id
        AND NOT n.retained AND n.rule_id IS NOT NULL AND n.rule_id = s.rule_id AND n.local_date = s.local_date
        AND n.appointment_id IS NULL AND n.starts_at >= s.starts_at
        AND n.starts_at < s.starts_at + w.wanted * (s.ends_at - s.starts_at)) AS r
    WHERE r.slots = w.wanted ORDER BY s.starts_at, s.spread, s.id`;
}
