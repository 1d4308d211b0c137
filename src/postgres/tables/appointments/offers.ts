import type { Knex } from "knex";
import type { Principal, Transaction } from "../../../call.js";
import { readRecord } from "../../columns.js";
import { type Bound, type Parameter, prepared } from "../../prepared.js";
import { sql } from "../../sql.js";
import { IS_UP_TO_DATE, windowOf, withSettings } from "../schedule/booking-windows.js";

/** Attributes of a program that offers a healthcare service: its location, and whether it is an emergency program. */
export interface Offer {
  readonly locationId: string;
  readonly emergency: boolean;
}

/**
 * The organization and company of a principal; undefined if the principal has none. The principal sees a program only
 * if the program has no organization, or the same organization as the principal. The same condition must be true for
 * the company.
 */
type ProgramVisibility = { readonly [K in "organizationId" | "companyId"]: string | Parameter | undefined };

/**
 * Returns a query for the programs `p` in which a principal can book a healthcare service. The program, its location
 * and the service are active, the program offers the service, and the principal can see the program. Does not check
 * whether a practitioner is active. A search for options and a booking use the same query.
 */
export function offeringPrograms(
  { tenantId }: Bound<"tenantId">,
  { organizationId, companyId }: ProgramVisibility,
  serviceId: string | Parameter | Knex.Ref<string, Record<string, string>>,
): Knex.QueryBuilder {
  return sql({ p: "programs" })
    .joinRaw("JOIN locations l ON l.tenant_id = ? AND l.id = p.location_id AND l.active", [tenantId])
    .joinRaw("JOIN program_services ps ON ps.tenant_id = ? AND ps.program_id = p.id AND ps.service_id = ?", [
      tenantId,
      serviceId,
    ])
    .joinRaw("JOIN healthcare_services h ON h.tenant_id = ? AND h.id = ps.service_id AND h.active", [tenantId])
    .where({ "p.tenant_id": tenantId, "p.active": true })
    .whereRaw("(p.organization_id IS NULL OR p.organization_id = ?::uuid)", [organizationId ?? null])
    .whereRaw("(p.company_id IS NULL OR p.company_id = ?::uuid)", [companyId ?? null]);
}

/**
 * Returns a query for the {@link Offer} of a healthcare service in a slot `s`, under the conditions of
 * {@link findOffer}. Returns at most one row for each slot. The caller must join `s`, or use the query where `s` is
 * known.
 */
export function offersInSlot({
  serviceId,
  at,
  ...holder
}: Readonly<Record<"tenantId" | "organizationId" | "companyId" | "serviceId" | "at", Parameter>>): Knex.QueryBuilder {
  const { opens, closes } = windowOf(at);
  return withSettings(offeringPrograms(holder, holder, serviceId), holder.tenantId)
    .whereRaw("p.id = s.program_id")
    .whereRaw(IS_UP_TO_DATE)
    .whereRaw("(?::timestamptz IS NULL OR s.starts_at >= ? AND s.starts_at < ?)", [at, opens, closes])
    .select({ locationId: "p.location_id", emergency: "p.emergency" });
}

const offerOfSlot = prepared(
  ["tenantId", "organizationId", "companyId", "serviceId", "slotId", "at"],
  ({ slotId, ...names }) =>
    offersInSlot(names).joinRaw("JOIN slots s ON s.tenant_id = ?", [names.tenantId]).where({ "s.id": slotId }),
);

/**
 * Returns the offer of a healthcare service in a slot. Does not check whether the slot is free or the practitioner is
 * active. Returns undefined in these cases:
 * - The slot does not exist, or the principal cannot book the service in its program.
 * - The slot is not up to date ({@link IS_UP_TO_DATE}).
 * - `at` is defined, and the slot starts after the booking horizon or within the minimum notice of its program, both
 *   counted from `at`.
 */
export async function findOffer(
  transaction: Transaction,
  principal: Principal,
  { slotId, serviceId }: { readonly slotId: string; readonly serviceId: string },
  at: Date | undefined,
): Promise<Offer | undefined> {
  const { tenantId } = transaction;
  const { organizationId = null, companyId = null } = principal;
  const holder = { tenantId, organizationId, companyId };
  return readRecord(transaction, offerOfSlot({ ...holder, serviceId, slotId, at: at ?? null }));
}

/** Returns the offer of a healthcare service in a program; undefined if the principal cannot book the service in it. */
export async function findProgramOffer(
  transaction: Transaction,
  principal: Principal,
  { programId, serviceId }: { readonly programId: string; readonly serviceId: string },
): Promise<Offer | undefined> {
  const query = offeringPrograms(transaction, principal, serviceId)
    .where({ "p.id": programId })
    .select({ locationId: "p.location_id", emergency: "p.emergency" });
  return readRecord(transaction, query);
}

/**
 * Selects the appointments on dates with outdated slots. An appointment has the alias `s`, because
 * {@link IS_UP_TO_DATE} reads `s.local_date`.
 */
const outdated = prepared(["tenantId", "ids"], (names) =>
  sql.raw(
    `SELECT s.id FROM appointments s JOIN programs p ON p.tenant_id = :tenantId AND p.id = s.program_id
     WHERE s.tenant_id = :tenantId AND s.id = ANY(:ids::uuid[]) AND NOT ${IS_UP_TO_DATE}`,
    names,
  ),
);

/**
 * Returns the ids of the appointments in `ids` on a date on which the slots of their program are not up to date
 * ({@link IS_UP_TO_DATE}). Such an appointment must not take more or other slots of that date. Call this after sending
 * the statements that lock the slots.
 */
export async function findOutdated(transaction: Transaction, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await transaction.rows<{ id: string }>(outdated({ tenantId: transaction.tenantId, ids }));
  return new Set(rows.map(({ id }) => id));
}
