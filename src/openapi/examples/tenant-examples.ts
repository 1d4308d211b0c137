import { example, exampleOf, type RequestExamples } from "./request-example.js";

const name = "Centro Médico La Ceiba";
const tenant = { example: "CreateTenant", member: "tenant.tenantId" } as const;
const suspended = { example: "SuspendTenant", member: "tenant.tenantId" } as const;

/** Examples of the operations on tenants. */
export const tenantExamples: RequestExamples = {
  CreateTenant: example({ displayName: name, withDefaults: true }),
  GetTenant: exampleOf("tenantId", tenant),
  ListTenants: example({ pageSize: 20 }),
  SuspendTenant: exampleOf("tenantId", tenant, { expectedVersion: 1 }),
  ResumeTenant: exampleOf("tenantId", suspended, { expectedVersion: 2 }),
  ExportTenant: exampleOf("tenantId", tenant, { pageSize: 200 }),
  EraseTenant: exampleOf("tenantId", suspended, { expectedVersion: 2, confirmedDisplayName: name }),
};
