import { LIVE_STATUSES } from "../appointments/appointment-status.js";
import { countedColumns } from "../appointments/counted-appointments.js";

/** The columns that identify a row of `opportunity_summaries` within its tenant. */
export const cellKey = "month, service_id, location_id, program_id, payer_id, first_visit";

/**
 * The columns of `opportunity_summaries` that contain sums. Two rows are combined by adding the values in each of these
 * columns.
 */
export const cellSums = [
  "assigned_calendar",
  "assigned_business",
  "attended_calendar",
  "attended_business",
  "breaches",
  "no_shows",
  "booked_minutes",
] as const;

/** SQL for the appointments of a tenant, with the columns {@link countedColumns} and `change`, which is always 1. */
export const COUNTED_APPOINTMENTS = `SELECT 1 AS change, service_id, location_id, program_id,
    coalesce(payer_id, '00000000-0000-0000-0000-000000000000'::uuid) AS payer_id, coalesce(first_visit, false) AS first_visit,
    coalesce(requested_on, (created_at AT TIME ZONE 'America/Bogota')::date) AS requested_on,
    coalesce(assigned_on, (created_at AT TIME ZONE 'America/Bogota')::date) AS assigned_on, local_date,
    CASE WHEN status IN ('ATTENDED', 'NO_SHOW') THEN status ELSE 'OTHER' END AS outcome,
    coalesce(local_date > due_on, false) AND status <> 'CANCELLED' AS late,
    CASE WHEN status IN ${LIVE_STATUSES} AND NOT overbooked THEN extract(epoch FROM ends_at - starts_at)::integer / 60 ELSE 0 END
      AS booked_minutes
  FROM appointments WHERE tenant_id = :tenant`;

const COLUMNS = countedColumns.join(", ");

/** SQL for the changes of a tenant, with the same columns as {@link COUNTED_APPOINTMENTS}. */
export const COUNTED_CHANGES = `SELECT change, ${COLUMNS} FROM opportunity_changes WHERE tenant_id = :tenant`;

/** SQL for {@link COUNTED_CHANGES} with the opposite sign, so that the sum of both is zero. */
export const CHANGES_TAKEN_BACK = `SELECT -change, ${COLUMNS} FROM opportunity_changes WHERE tenant_id = :tenant`;

const MONTH = (date: string) => `date_trunc('month', ${date}::timestamp)::date`;

/**
 * SQL for the number of workdays from Monday, 0001-01-01, through a date, both inclusive. Workdays are Monday to
 * Friday, except active holidays.
 */
const workdays = (date: string) => `((${date} - date '0001-01-01' + 1) / 7 * 5
  + least((${date} - date '0001-01-01' + 1) % 7, 5) - width_bucket(${date}, (SELECT dates FROM free_days)))`;

/**
 * The longest wait that a histogram can contain, in days. PostgreSQL's numeric type has at most 131,072 digits before
 * the decimal point, and each number of days from 0 has eight digits.
 */
const MAX_DAYS = 131_072 / 8 - 1;

/**
 * SQL for a histogram of waits in one decimal number, with eight digits for each number of days. For example, 300000002
 * means two waits of 0 days and three waits of 1 day. A negative wait counts as 0 days, and a wait of more than
 * {@link MAX_DAYS} as MAX_DAYS days.
 */
const histogram = (waits: string, days: string) =>
  `sum(${waits} * ('1e' || 8 * least(greatest(${days}, 0), ${MAX_DAYS}))::numeric)`;

/**
 * SQL for CTEs that follow a CTE `counted` with rows like {@link COUNTED_APPOINTMENTS}. The last CTE, `cells`, sums up
 * these rows into rows of `opportunity_summaries`. A histogram is expensive to compute, so waits with the same dates
 * are added up first. The parameter `tenant` is the id of the tenant.
 */
export const CELLS = `free_days AS (
    SELECT coalesce(array_agg(date ORDER BY date), '{}') AS dates FROM holidays
    WHERE tenant_id = :tenant AND active AND extract(isodow FROM date) < 6
  ), waits AS (
    SELECT ${MONTH("assigned_on")} AS month, service_id, location_id, program_id, payer_id, first_visit,
      requested_on AS since, assigned_on AS until, sum(change) AS assigned, 0 AS attended, 0 AS breaches, 0 AS no_shows,
      0 AS booked_minutes
    FROM counted GROUP BY 2, 3, 4, 5, 6, 7, 8
    UNION ALL
    SELECT ${MONTH("local_date")}, service_id, location_id, program_id, payer_id, first_visit, requested_on, local_date, 0,
      coalesce(sum(change) FILTER (WHERE outcome = 'ATTENDED'), 0), coalesce(sum(change) FILTER (WHERE late), 0),
      coalesce(sum(change) FILTER (WHERE outcome = 'NO_SHOW'), 0), sum(change * booked_minutes)
    FROM counted GROUP BY 2, 3, 4, 5, 6, 7, 8
  ), cells AS (
    SELECT ${cellKey}, ${histogram("assigned", "until - since")} AS assigned_calendar,
      ${histogram("assigned", "workdays")} AS assigned_business, ${histogram("attended", "until - since")} AS attended_calendar,
      ${histogram("attended", "workdays")} AS attended_business, sum(breaches)::integer AS breaches,
      sum(no_shows)::integer AS no_shows, sum(booked_minutes)::bigint AS booked_minutes
    FROM (SELECT *, ${workdays("until")} - ${workdays("since")} AS workdays FROM waits) AS w GROUP BY ${cellKey}
  )`;
