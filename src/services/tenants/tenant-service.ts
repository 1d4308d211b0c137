import type { Principal, ReadyCall, Transaction } from "../../call.js";
import { conflict, insufficientScope, validationFailed } from "../../errors.js";
import type {
  CreateTenantRequestValid,
  EraseTenantRequestValid,
  TenantService,
} from "../../gen/cupo/clinic/v1/tenant_service_pb.js";
import type { Implementation } from "../../implementation.js";
import { requestErasure, requestExtension } from "../../postgres/job-queue.js";
import { withinTenant } from "../../postgres/tables/tenants/tenant-scope.js";
import {
  findTenant,
  insertTenant,
  listTenants,
  lockTenant,
  type TenantChanges,
  type TenantRecord,
  type TenantState,
  updateTenant,
} from "../../postgres/tables/tenants/tenants.js";
import { idAfter } from "../resources/page-keys.js";
import { cutPage, readPage } from "../resources/pages.js";
import { requireFound, requireVersion } from "../resources/preconditions.js";
import { createDefaults } from "./create-defaults.js";
import { exportTenant } from "./export-tenant.js";
import { toTenant } from "./tenant-messages.js";

/** The dependencies of the tenant service. */
export interface TenantPorts {
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
  /** Returns whether the principal may manage other tenants. The scope `tenants:manage` alone is not enough. */
  readonly isOperator: (principal: Principal) => boolean;
}

const SCOPE = "tenants:manage";

/**
 * Returns the service with which operators manage tenants. Each method except `listTenants` accesses other tenants only
 * through {@link reach}.
 */
export function createTenantService(ports: TenantPorts): Implementation<typeof TenantService> {
  return {
    async createTenant(request, call) {
      return { tenant: toTenant(await create(request, call, ports)) };
    },
    async getTenant({ tenantId }, call) {
      return { tenant: toTenant(requireFound(await reach(tenantId, call, ports, findTenant), "tenantId")) };
    },
    async listTenants(request, call) {
      requireOperator(call, ports);
      const page = readPage(request, "tenants");
      const found = await listTenants(call.transaction, { afterId: idAfter(page), limit: page.size + 1 });
      const { rows, next } = cutPage(found, page, ({ tenantId }) => [tenantId], "tenants");
      return { tenants: rows.map(toTenant), ...next };
    },
    async suspendTenant(request, call) {
      const to = { state: "SUSPENDED", suspendedAt: new Date(ports.now()) } as const;
      return { tenant: toTenant(await move(request, "ACTIVE", to, call, ports)) };
    },
    async resumeTenant(request, call) {
      const to = { state: "ACTIVE", suspendedAt: undefined } as const;
      return { tenant: toTenant(await move(request, "SUSPENDED", to, call, ports)) };
    },
    async exportTenant(request, call) {
      return exportTenant(request, call, (work) =>
        reach(request.tenantId, call, ports, async (transaction) => {
          requireFound(await findTenant(transaction), "tenantId");
          return work(transaction);
        }),
      );
    },
    async eraseTenant(request, call) {
      const tenant = await move(request, "SUSPENDED", { state: "ERASING" }, call, ports, requireName(request));
      requestErasure(call.transaction);
      return { tenant: toTenant(tenant) };
    },
  };
}

/** Runs `work` in the transaction of a call, on the data of a tenant. Throws 403 if the caller is not an operator. */
function reach<T>(
  tenantId: string,
  call: ReadyCall,
  ports: TenantPorts,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  requireOperator(call, ports);
  return withinTenant(call.transaction, tenantId, work);
}

function requireOperator({ principal }: ReadyCall, { isOperator }: TenantPorts): void {
  if (isOperator(principal)) return;
  throw insufficientScope(SCOPE, "Only access tokens of the tenant in the setting OPERATOR_TENANT_ID manage tenants.");
}

async function create(request: CreateTenantRequestValid, call: ReadyCall, ports: TenantPorts): Promise<TenantRecord> {
  const tenantId = request.tenantId?.toLowerCase() ?? call.newId();
  const at = new Date(ports.now());
  const tenant: TenantRecord = {
    tenantId,
    displayName: request.displayName,
    state: "ACTIVE",
    version: 1,
    createdAt: at,
    updatedAt: at,
    suspendedAt: undefined,
    erasedAt: undefined,
    erasedRows: "0",
  };
  await reach(tenantId, call, ports, async (transaction) => {
    insertTenant(transaction, tenant);
    if (request.withDefaults !== true) return;
    const principal = { ...call.principal, tenantId, organizationId: undefined, companyId: undefined };
    await createDefaults({ ...call, principal, transaction, effects: [] }, at.getTime());
  });
  call.effects.push({ resourceType: "Tenant", resourceId: tenantId, action: "CREATE", version: 1 });
  return tenant;
}

interface Move {
  readonly tenantId: string;
  readonly expectedVersion: number;
}

/**
 * Moves a tenant from the state `from` to another and returns it. Requests the schedules of a tenant that becomes
 * ACTIVE, because jobs did not extend them meanwhile.
 *
 * Throws:
 * - 403 for a caller who is not an operator
 * - 404 if the tenant has no record
 * - 409 for a stale version, for the caller's own tenant, and for a tenant that is not in the state `from`
 * - the errors of `check`
 */
async function move(
  { tenantId, expectedVersion }: Move,
  from: TenantState,
  to: TenantChanges,
  call: ReadyCall,
  ports: TenantPorts,
  check: (tenant: TenantRecord) => void = () => undefined,
): Promise<TenantRecord> {
  return reach(tenantId, call, ports, async (transaction) => {
    const tenant = requireFound(await lockTenant(transaction), "tenantId");
    requireVersion(tenant, expectedVersion);
    if (tenant.tenantId === call.principal.tenantId) throw refusal("this is the tenant of the caller itself");
    if (tenant.state !== from) throw refusal(`the tenant is ${tenant.state}; it must be ${from}`);
    check(tenant);
    const changes = { ...to, version: tenant.version + 1, updatedAt: new Date(ports.now()) };
    updateTenant(transaction, changes);
    if (to.state === "ACTIVE") requestExtension(transaction);
    const action = to.state === "ERASING" ? "DELETE" : "UPDATE";
    call.effects.push({ resourceType: "Tenant", resourceId: tenant.tenantId, action, version: changes.version });
    return { ...tenant, ...changes };
  });
}

function refusal(message: string) {
  return conflict({ code: "STATE_NOT_ALLOWED", field: "tenantId", message });
}

function requireName({ confirmedDisplayName }: EraseTenantRequestValid): (tenant: TenantRecord) => void {
  return ({ displayName }) => {
    if (confirmedDisplayName === displayName) return;
    const message = "the value is not the display name of the tenant";
    throw validationFailed([{ code: "INVALID_VALUE", field: "confirmedDisplayName", message }]);
  };
}
