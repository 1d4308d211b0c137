import type { KeyRingStore } from "../../../option-tokens/key-ring-store.js";
import type { Database } from "../../database.js";

interface KeyRow {
  kid: string;
  secret: Buffer;
  created_at: Date;
}

/** Stores the keys of option tokens in the database, which all processes share. */
export function optionTokenKeys({ pool }: Pick<Database, "pool">): KeyRingStore {
  return {
    async load() {
      const { rows } = await pool.query<KeyRow>("SELECT kid, secret, created_at FROM option_token_keys");
      return rows.map(({ kid, secret, created_at }) => ({ kid, secret, createdAtMs: created_at.getTime() }));
    },
    async add({ kid, secret, createdAtMs }) {
      const values = [kid, Buffer.from(secret), new Date(createdAtMs)];
      await pool.query("INSERT INTO option_token_keys (kid, secret, created_at) VALUES ($1, $2, $3)", values);
    },
    async remove(kids) {
      await pool.query("DELETE FROM option_token_keys WHERE kid = ANY($1)", [kids]);
    },
  };
}
