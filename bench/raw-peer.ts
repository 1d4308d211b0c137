/**
 * The ceiling: node:http and pg, which send the recorded statements of a registration in one batch for each POST.
 * Nothing is checked. `creation` starts it with DATABASE_URL and with the file of the statements in RECORDED.
 */
import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Pool } from "pg";
import { StatementBatch } from "../src/postgres/batches/statement-batch.js";
import { newId } from "../src/uuid.js";

type RecordedValue = string | { readonly bytes: number } | null;

const UUID_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/;
/** A document number of a load, as text and without separators. */
const DOCUMENT = /(?<!\d)[12]\d{14}(?!\d)/g;
const HASH_BYTES = 32;

const statements: { sql: string; values: RecordedValue[] }[] = JSON.parse(
  readFileSync(process.env["RECORDED"] ?? "", "utf8"),
);
const prepared = statements.map(({ sql, values }, i) => ({
  text: sql,
  values,
  name: values.length === 0 ? undefined : `raw_${i}`,
}));
const pool = new Pool({ connectionString: process.env["DATABASE_URL"] ?? "", min: 10, max: 10, pipeline: true });

const server = createServer((request, response) => {
  void text(request).then((body) => register(JSON.parse(body), response));
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`Peer http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});

async function register(sent: { documentNumber: string }, response: ServerResponse): Promise<void> {
  const client = await pool.connect();
  try {
    const batch = new StatementBatch(client);
    const ids = new Map<string, string>();
    const results = prepared.map(
      ({ values, ...statement }) =>
        new Promise((answered, failed) => {
          const bound = values.map((value) => newValue(value, sent.documentNumber, ids));
          batch.add({ ...statement, values: bound }, { answered, failed });
        }),
    );
    client.query(batch);
    await Promise.all(results);
    const [id] = ids.values();
    const answer = JSON.stringify({ id, ...sent, status: "ACTIVE", version: 1 });
    const length = String(Buffer.byteLength(answer));
    response.writeHead(201, { "content-type": "application/json", "content-length": length }).end(answer);
  } finally {
    client.release();
  }
}

/** Ids, hashes and document numbers are new for each request. The rest is as recorded. */
function newValue(value: RecordedValue, documentNumber: string, ids: Map<string, string>): string | Buffer | null {
  if (value === null) return null;
  if (typeof value !== "string") {
    if (value.bytes !== HASH_BYTES) return Buffer.alloc(value.bytes, "x");
    return createHash("sha256").update(randomBytes(16)).digest();
  }
  if (!UUID_7.test(value)) return value.replaceAll(DOCUMENT, documentNumber);
  const id = ids.get(value) ?? newId();
  ids.set(value, id);
  return id;
}
