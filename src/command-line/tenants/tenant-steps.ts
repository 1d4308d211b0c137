import { type FileHandle, mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Tenant, Tenant_State } from "../../gen/cupo/clinic/v1/tenant_pb.js";
import { type TenantClient, tenantIn } from "./tenant-calls.js";

/** The outputs of a subcommand: `output` for its result, and `progress` for its progress. */
export interface StepOutputs {
  readonly output: { write(text: string): unknown };
  readonly progress: { write(text: string): unknown };
}

/** Milliseconds between two requests that ask whether an erasure has ended. */
const LOOK_EVERY_MS = 1_000;
const PAGE_SIZE = 200;
/** The number of rows between two lines of progress of an export. */
const LINE_EVERY_ROWS = 10_000;

/** Creates the record of a tenant, with default catalogs unless `bare`, and prints the tenant. */
export async function createTenant(
  client: TenantClient,
  displayName: string,
  { id, bare = false }: { readonly id?: string; readonly bare?: boolean },
  { output }: StepOutputs,
): Promise<void> {
  const request = { displayName, withDefaults: !bare, ...(id === undefined ? {} : { tenantId: id }) };
  output.write(lineOf(tenantIn(await client.createTenant(request))));
}

/** Prints every tenant that has a record. */
export async function listTenants(client: TenantClient, { output }: StepOutputs): Promise<void> {
  let pageToken = "";
  do {
    const { tenants, nextPageToken } = await client.listTenants({ pageSize: PAGE_SIZE, pageToken });
    for (const tenant of tenants) output.write(lineOf(tenant));
    pageToken = nextPageToken;
  } while (pageToken !== "");
}

/**
 * Suspends or resumes a tenant, and prints the changed tenant. Reads the version of the tenant first, and sends it as
 * the expected version.
 */
export async function moveTenant(
  client: TenantClient,
  step: "suspendTenant" | "resumeTenant",
  tenantId: string,
  { output }: StepOutputs,
): Promise<void> {
  const { version: expectedVersion } = tenantIn(await client.getTenant({ tenantId }));
  output.write(lineOf(tenantIn(await client[step]({ tenantId, expectedVersion }))));
}

/**
 * Writes all data of a tenant to files in `folder`. Each table with rows of the tenant gets a file `<table>.ndjson`.
 * Prints the number of rows of each table and in total. Only the user who runs the command can read the files. Throws
 * if a file already exists, or if the tenant is not suspended.
 */
export async function exportTenant(
  client: TenantClient,
  tenantId: string,
  folder: string,
  { output, progress }: StepOutputs,
): Promise<void> {
  const { state } = tenantIn(await client.getTenant({ tenantId }));
  if (state !== Tenant_State.SUSPENDED) throw new Error("suspend the tenant first, so that its data does not change");
  await mkdir(folder, { recursive: true });
  const counts = new Map<string, number>();
  let file: FileHandle | undefined;
  let [pageToken, total] = ["", 0];
  try {
    do {
      const { rows, nextPageToken } = await client.exportTenant({ tenantId, pageSize: PAGE_SIZE, pageToken });
      for (const { table, json } of rows) {
        if (!counts.has(table)) {
          await file?.close();
          file = await open(join(folder, `${table}.ndjson`), "wx", 0o600);
        }
        counts.set(table, (counts.get(table) ?? 0) + 1);
        await file?.write(`${json}\n`);
        total += 1;
        if (total % LINE_EVERY_ROWS === 0) progress.write(`${total} rows, now ${table}\n`);
      }
      pageToken = nextPageToken;
    } while (pageToken !== "");
  } finally {
    await file?.close();
  }
  for (const [table, count] of counts) output.write(`${String(count).padStart(10)} ${table}\n`);
  output.write(`${String(total).padStart(10)} rows\n`);
}

/**
 * Starts the erasure of a suspended tenant, unless the erasure has already started. Waits until it ends. Prints the
 * number of deleted rows each second, and prints the tenant at the end.
 */
export async function eraseTenant(
  client: TenantClient,
  tenantId: string,
  confirmedDisplayName: string,
  { output, progress }: StepOutputs,
): Promise<void> {
  let tenant = tenantIn(await client.getTenant({ tenantId }));
  if (tenant.state !== Tenant_State.ERASING && tenant.state !== Tenant_State.ERASED) {
    const { version: expectedVersion } = tenant;
    tenant = tenantIn(await client.eraseTenant({ tenantId, expectedVersion, confirmedDisplayName }));
  }
  while (tenant.state === Tenant_State.ERASING) {
    await delay(LOOK_EVERY_MS);
    tenant = tenantIn(await client.getTenant({ tenantId }));
    progress.write(`${tenant.erasedRowCount} rows deleted\n`);
  }
  output.write(lineOf(tenant));
}

function lineOf({ tenantId, state, displayName = "-" }: Tenant): string {
  return `${tenantId} ${Tenant_State[state].padEnd(9)} ${displayName}\n`;
}
