import type { Knex } from "knex";
import { HORIZON_DAYS } from "../../../scheduling/horizon.js";
import { type Parameter } from "../../prepared.js";
import { sql } from "../../sql.js";

/** SQL for how many days after today a program `p` can be booked. `t` is the row of the tenant's settings. */
export const HORIZON_OF_PROGRAM = `coalesce(p.horizon_days, t.horizon_days, ${HORIZON_DAYS})`;

/**
 * SQL for how many days after today the schedule of a program `p` extends. This is {@link HORIZON_OF_PROGRAM}, but at
 * least {@link HORIZON_DAYS}. `t` is the row of the tenant's settings.
 */
export const PLANNED_DAYS = `greatest(${HORIZON_OF_PROGRAM}, ${HORIZON_DAYS})`;

/** Joins the settings of the tenant to a query as `t`. If the tenant has no settings, the columns of `t` are null. */
export function withSettings(query: Knex.QueryBuilder, tenantId: string | Parameter): Knex.QueryBuilder {
  return query.joinRaw("LEFT JOIN tenant_settings t ON t.tenant_id = ?", [tenantId]);
}

/**
 * SQL for whether a slot `s` of a program `p` has been compared with the current rules and practitioners of the
 * program. After a change of the rules or practitioners, jobs compare the slots that are more than {@link HORIZON_DAYS}
 * days ahead. Until then, the SQL is false for these slots, and they are not offered. See `remakeProgram`.
 */
export const IS_UP_TO_DATE = "(s.local_date < p.outdated_from) IS NOT FALSE";

const NOTICE = "coalesce(p.minimum_notice_minutes, t.minimum_notice_minutes, 0)";
const TODAY = "(?::timestamptz AT TIME ZONE 'America/Bogota')::date";

/**
 * Returns SQL for a time range. A slot of a program `p` is offered at the instant `now` only if it starts in this
 * range. Bookings and moves to a stated time ignore the minimum notice. `opens` is inclusive, `closes` is exclusive.
 * `t` is the row of the tenant's settings. Slots that are not up to date ({@link IS_UP_TO_DATE}) are outside the range.
 */
export function windowOf(now: Date | Parameter): { readonly opens: Knex.Raw; readonly closes: Knex.Raw } {
  return {
    opens: sql.raw(`?::timestamptz + make_interval(mins => ${NOTICE})`, [now]),
    closes: sql.raw(
      `least(${TODAY} + ${HORIZON_OF_PROGRAM} + 1, p.outdated_from)::timestamp AT TIME ZONE 'America/Bogota'`,
      [now],
    ),
  };
}

/**
 * SQL for the first instant at which a slot `s` of a program `p` is offered. {@link OFFERED_UNTIL} is SQL for the
 * last instant. Neither checks {@link IS_UP_TO_DATE}. `t` is the row of the tenant's settings.
 */
export const OFFERED_FROM = `(s.local_date - ${HORIZON_OF_PROGRAM})::timestamp AT TIME ZONE 'America/Bogota'`;
export const OFFERED_UNTIL = `s.starts_at - make_interval(mins => ${NOTICE})`;
