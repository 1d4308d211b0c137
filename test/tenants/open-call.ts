import { randomUUID } from "node:crypto";
import { Client } from "pg";

/** A transaction of a call that began while its tenant was active, and that has not written yet. */
export interface OpenCall {
  /** Writes a row of the tenant and commits. */
  write(): Promise<void>;
}

/** Begins a transaction as the service's role. */
export async function openCall(url: string, tenantId: string): Promise<OpenCall> {
  const client = new Client(url);
  await client.connect();
  await client.query("BEGIN");
  await client.query(`SET LOCAL cupo.tenant_id = '${tenantId}'`);
  return {
    write: async () => {
      await client.query(`INSERT INTO holidays (tenant_id, id, date, name, active, version, created_at, updated_at)
        VALUES ('${tenantId}', '${randomUUID()}', '2031-05-01', 'Tarde', true, 1, now(), now())`);
      await client.query("COMMIT");
      await client.end();
    },
  };
}
