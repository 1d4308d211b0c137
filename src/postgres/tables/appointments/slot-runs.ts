import type { Knex } from "knex";

/**
 * Selects those free slots `s` that begin a run of free slots of the same rule with at least this many minutes. Each
 * has the end and the latest generation of its run. The result is ordered by start. It takes one index lookup for each
 * slot, and only for as many slots as the caller reads.
 */
export function runsFrom(tenantId: string, slots: Knex.QueryBuilder, minutes: number): Knex.QueryBuilder {
  return slots
    .joinRaw(RUN, { tenantId, minutes })
    .whereRaw("r.slots = w.wanted")
    .select("s.id", "s.program_id", "s.practitioner_id", "s.starts_at", "s.location_id", "s.emergency", "s.spread")
    .select({ ends_at: "r.ends_at", generation: "r.generation" })
    .orderBy(["s.starts_at", "s.spread", "s.id"]);
}

/** All slots of a rule have the same length, so the number of slots shows whether one is missing. */
const RUN = `CROSS JOIN LATERAL (
    SELECT ceil(:minutes::integer * 60 / extract(epoch FROM s.ends_at - s.starts_at))::integer AS wanted) AS w
  CROSS JOIN LATERAL (
    SELECT count(*) AS slots, max(n.generation) AS generation, max(n.ends_at) AS ends_at FROM slots n
    WHERE n.tenant_id = :tenantId AND n.program_id = s.program_id AND n.practitioner_id = s.practitioner_id
      AND NOT n.retained AND n.rule_id IS NOT NULL AND n.rule_id = s.rule_id AND n.appointment_id IS NULL
      AND n.starts_at >= s.starts_at AND n.starts_at < s.starts_at + w.wanted * (s.ends_at - s.starts_at)) AS r`;
