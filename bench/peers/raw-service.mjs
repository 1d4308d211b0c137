/**
 * The ceiling: node:http and pg, and for each POST the rows of a registration in one batch of prepared statements behind one
 * synchronisation. Nothing is checked, and nothing is done that does not make a row. It is started by ../peers.mjs with DATABASE_URL
 * and the recorded statements in RECORDED; prints its address.
 */
import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { Pool } from "pg";
import { StatementBatch } from "../../dist/postgres/statement-batch.js";
import { newId } from "../../dist/uuid.js";

const UUID_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/;
const { statements, document } = JSON.parse(readFileSync(process.env.RECORDED, "utf8"));
const prepared = statements.map(({ sql, values }, i) => ({
  text: sql,
  values,
  name: values.length === 0 ? undefined : `raw_${i}`,
}));
const pool = new Pool({ connectionString: process.env.DATABASE_URL, min: 10, max: 10, pipeline: true });

const server = createServer((request, response) => {
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", () => void register(Buffer.concat(parts), response));
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`Peer http://127.0.0.1:${server.address().port}\n`));

async function register(body, response) {
  const sent = JSON.parse(body);
  const client = await pool.connect();
  try {
    const batch = new StatementBatch(client);
    const ids = new Map();
    const results = prepared.map(({ values, ...statement }) =>
      batch.add({ ...statement, values: values.map((value) => newValue(value, sent.documentNumber, ids)) }),
    );
    client.query(batch);
    await Promise.all(results);
    const text = JSON.stringify({ id: ids.values().next().value, ...sent, status: "ACTIVE", version: 1 });
    response.writeHead(201, ["Content-Type", "application/json", "Content-Length", Buffer.byteLength(text)]).end(text);
  } finally {
    client.release();
  }
}

/** Ids, hashes and document numbers are new for each request, everything else is as it was recorded. */
function newValue(value, documentNumber, ids) {
  if (value === null) return null;
  if (typeof value !== "string") return value.bytes === 32 ? hashOf(randomBytes(16)) : Buffer.alloc(value.bytes, 120);
  if (value.includes(document)) return value.replace(document, documentNumber);
  if (!UUID_7.test(value)) return value;
  if (!ids.has(value)) ids.set(value, newId());
  return ids.get(value);
}

function hashOf(bytes) {
  return createHash("sha256").update(bytes).digest();
}
