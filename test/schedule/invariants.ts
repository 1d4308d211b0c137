import type { TestService } from "../support/service.js";

const LIVE = "('PENDING', 'CONFIRMED', 'CHECKED_IN', 'ATTENDED')";

const QUERIES: Readonly<Record<string, string>> = {
  "a live appointment without its slot": `SELECT a.id FROM appointments a WHERE a.status IN ${LIVE} AND NOT EXISTS (
     SELECT FROM slots s WHERE s.tenant_id = a.tenant_id AND s.appointment_id = a.id AND s.program_id = a.program_id
       AND s.rule_id = a.rule_id AND s.practitioner_id = a.practitioner_id AND s.local_date = a.local_date
       AND s.starts_at = a.starts_at AND s.ends_at = a.ends_at)`,
  "a slot occupied by nothing live": `SELECT s.id FROM slots s JOIN appointments a
     ON a.tenant_id = s.tenant_id AND a.id = s.appointment_id WHERE a.status NOT IN ${LIVE}`,
  "a wrong counter": `SELECT rule_id FROM
     (SELECT tenant_id, rule_id, local_date, booked FROM day_counters) c FULL JOIN
     (SELECT tenant_id, rule_id, local_date, count(*) AS live FROM appointments WHERE status IN ${LIVE} GROUP BY 1, 2, 3) a
     USING (tenant_id, rule_id, local_date) WHERE coalesce(c.booked, 0) <> coalesce(a.live, 0)`,
  "an overlap": `SELECT a.id FROM appointments a JOIN appointments b ON a.tenant_id = b.tenant_id AND a.id < b.id
     AND (a.practitioner_id = b.practitioner_id OR a.patient_id = b.patient_id)
     AND a.starts_at < b.ends_at AND b.starts_at < a.ends_at WHERE a.status IN ${LIVE} AND b.status IN ${LIVE}`,
  "an incomplete history": `SELECT a.id FROM appointments a LEFT JOIN appointment_history h
     ON h.tenant_id = a.tenant_id AND h.appointment_id = a.id GROUP BY a.tenant_id, a.id, a.version, a.status
     HAVING count(h.version) <> a.version OR min(h.version) <> 1 OR max(h.version) <> a.version
       OR bool_or(h.version = a.version AND h.to_status <> a.status)`,
};

/** What is wrong with the bookings of every tenant, seen in one snapshot; nothing if all is well. */
export async function brokenInvariants(service: TestService): Promise<string[]> {
  const parts = Object.entries(QUERIES).map(([name, query]) => `SELECT '${name}' AS name WHERE EXISTS (${query})`);
  return (await service.query(parts.join(" UNION ALL "))).map(({ name }) => String(name));
}
