import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Tenant, Tenant_State, TenantSchema } from "../../gen/cupo/clinic/v1/tenant_pb.js";
import type { TenantRecord } from "../../postgres/tables/tenants/tenants.js";
import { valueNamed } from "../resources/enum-names.js";
import { presentOf } from "../resources/present-of.js";

const MAX_INT32 = 2_147_483_647;

export function toTenant({ tenantId, displayName, state, version, ...rest }: TenantRecord): Tenant {
  const timeOf = (at: Date | undefined) => (at === undefined ? undefined : timestampFromDate(at));
  return create(TenantSchema, {
    tenantId,
    state: valueNamed(Tenant_State, state),
    version,
    createdAt: timestampFromDate(rest.createdAt),
    updatedAt: timestampFromDate(rest.updatedAt),
    ...presentOf({ displayName, suspendedAt: timeOf(rest.suspendedAt), erasedAt: timeOf(rest.erasedAt) }),
    erasedRowCount: Math.min(Number(rest.erasedRows), MAX_INT32),
  });
}
