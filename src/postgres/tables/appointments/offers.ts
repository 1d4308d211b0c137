import type { Knex } from "knex";
import type { Principal, Transaction } from "../../../call.js";
import { readRecord } from "../../columns.js";
import { type Bound, type Parameter, prepared } from "../../prepared.js";
import { sql } from "../../sql.js";

/** Where a service can be had in a slot, and in which kind of program. */
export interface Offer {
  readonly locationId: string;
  readonly emergency: boolean;
}

/** Whose programs somebody sees beside those of everybody in the tenant. */
type Holder = { readonly [K in "organizationId" | "companyId"]: string | Parameter | undefined };

/**
 * The programs `p` in which a principal can have a service: programs that the principal can see, that are active and offer
 * the service, at an active location, while the service is active. A search for options and the taking of one ask this
 * same question; the practitioner, who has to be active too, is another's.
 */
export function offeringPrograms(
  { tenantId }: Bound<"tenantId">,
  { organizationId, companyId }: Holder,
  serviceId: string | Parameter,
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

const offerOfSlot = prepared(
  ["tenantId", "organizationId", "companyId", "serviceId", "slotId"],
  ({ serviceId, slotId, ...holder }) =>
    offeringPrograms(holder, holder, serviceId)
      .joinRaw("JOIN slots s ON s.tenant_id = ? AND s.program_id = p.id", [holder.tenantId])
      .where({ "s.id": slotId })
      .select({ locationId: "p.location_id", emergency: "p.emergency" }),
);

/** How a service can be had in a slot; undefined where it cannot. */
export async function findOffer(
  transaction: Transaction,
  principal: Principal,
  { slotId, serviceId }: { readonly slotId: string; readonly serviceId: string },
): Promise<Offer | undefined> {
  const { tenantId } = transaction;
  const { organizationId = null, companyId = null } = principal;
  return readRecord(transaction, offerOfSlot({ tenantId, organizationId, companyId, serviceId, slotId }));
}

/** How a service can be had in a program; undefined where it cannot. */
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
