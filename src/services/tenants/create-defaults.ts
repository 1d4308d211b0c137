import type { ReadyCall } from "../../call.js";
import { appendServiceAudit } from "../../postgres/audit.js";
import {
  appointmentTypes,
  cancellationReasons,
  consultationTypes,
  noShowReasons,
  requestSources,
} from "../../postgres/tables/catalogs/catalogs.js";
import { opportunityDefinitions } from "../../postgres/tables/catalogs/reference-data.js";
import type { ResourceTable } from "../../postgres/tables/resources/resources.js";
import { localDateAt } from "../../scheduling/local-clock.js";
import { createResource } from "../resources/resources.js";
import { seedYear } from "../schedule/holiday-methods.js";
import { defaultCatalogs } from "./default-catalogs.js";

/**
 * Creates the default catalogs of a tenant, and the holidays of this year and the next. The transaction of `call` must
 * be a transaction of this tenant. The audit trail of the tenant names Cupo itself as the creator. The audit trail
 * of the operators' tenant names the operator.
 */
export async function createDefaults(call: ReadyCall, nowMs: number): Promise<void> {
  const create = <A extends object>(table: ResourceTable<A>, all: readonly Partial<A>[]) =>
    all.map((each) => createResource(call, table, { ...each, active: true } as unknown as A, nowMs));
  const { opportunities, appointmentTypes: types } = defaultCatalogs;
  const ids = new Map(create(opportunityDefinitions, opportunities).map(({ code, id }) => [code, id]));
  const withId = ({ opportunity, ...type }: (typeof types)[number]) => {
    const opportunityDefinitionId = ids.get(opportunity);
    if (opportunityDefinitionId === undefined) throw new Error(`there is no opportunity definition ${opportunity}`);
    return { ...type, opportunityDefinitionId };
  };
  create(appointmentTypes, types.map(withId));
  create(consultationTypes, defaultCatalogs.consultationTypes);
  create(cancellationReasons, defaultCatalogs.cancellationReasons);
  create(noShowReasons, defaultCatalogs.noShowReasons);
  create(requestSources, defaultCatalogs.requestSources);
  const year = Number(localDateAt(nowMs).slice(0, 4));
  for (const each of [year, year + 1]) await seedYear(each, call, nowMs);
  for (const effect of call.effects)
    call.transaction.send(appendServiceAudit(effect, call.transaction.tenantId, call.operation));
}
