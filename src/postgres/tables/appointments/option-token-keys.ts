import type { KeyRingStore } from "../../../option-tokens/key-ring-store.js";
import type { Database } from "../../database.js";

interface KeyRow {
  kid: string;
  secret: Buffer;
  created_at: Date;
}

/** Returns a store in the database for the keys of option tokens. All processes share these keys. */
export function optionTokenKeys({ pool }: Pick<Database, "pool">): KeyRingStore {
  return keysIn(pool, "option_token_keys");
}

/**
 * Returns a store in the database for the keys that encrypt the secrets of webhooks. All processes share these keys.
 * The service has no right to remove them.
 */
export function webhookKeys({ pool }: Pick<Database, "pool">): KeyRingStore {
  return keysIn(pool, "webhook_keys");
}

function keysIn(pool: Database["pool"], table: "option_token_keys" | "webhook_keys"): KeyRingStore {
  return {
    async load() {
      const { rows } = await pool.query<KeyRow>(`SELECT kid, secret, created_at FROM ${table}`);
      return rows.map(({ kid, secret, created_at }) => ({ kid, secret, createdAtMs: created_at.getTime() }));
    },
    async add({ kid, secret, createdAtMs }) {
      const values = [kid, Buffer.from(secret), new Date(createdAtMs)];
      await pool.query(`INSERT INTO ${table} (kid, secret, created_at) VALUES ($1, $2, $3)`, values);
    },
    async remove(kids) {
      await pool.query(`DELETE FROM ${table} WHERE kid = ANY($1)`, [kids]);
    },
  };
}
