/**
 * The idiomatic service: POST /patients with Fastify, Knex and jose, and with the guarantees of the service. It verifies
 * the token and its scope, counts a quota, rejects unknown members and stores one result for each key. It writes
 * consent, audit and event in one transaction under row-level security. With FOUR_ROWS it writes neither the event nor
 * search words. `creation` starts it with DATABASE_URL and with the public key of the issuer in JWK.
 */
import { createHash, randomUUID } from "node:crypto";
import Fastify, { type FastifyReply } from "fastify";
import { createLocalJWKSet, jwtVerify } from "jose";
import knexOf, { type Knex } from "knex";
import { DatabaseError } from "pg";
import { RateLimiterMemory } from "rate-limiter-flexible";
import { v7 } from "uuid";
import { searchWords } from "../src/postgres/search/search-words.js";

interface Principal {
  readonly id: string;
  readonly tenantId: string;
  readonly scopes: readonly string[];
}

interface Registration {
  readonly documentType: string;
  readonly documentNumber: string;
  readonly fullName: string;
  readonly phone: string;
  readonly email?: string;
  readonly consentGrantedAt: string;
}

interface Claim {
  readonly tenant_id: string;
  readonly key_hash: Buffer;
  readonly fingerprint: Buffer;
}

const OPERATION = "cupo.access.v1.PatientService/RegisterPatient";
const QUOTA = 1_000_000_000;
const UNIQUE_VIOLATION = "23505";
const WRITES_ALL_ROWS = process.env["FOUR_ROWS"] === undefined;

const knex = knexOf({ client: "pg", connection: process.env["DATABASE_URL"] ?? "", pool: { min: 10, max: 10 } });
const keys = createLocalJWKSet({ keys: [JSON.parse(process.env["JWK"] ?? "")] });
const quota = new RateLimiterMemory({ points: QUOTA, duration: 60 });
const principals = new WeakMap<object, Principal>();
const app = Fastify({ logger: { level: "info" }, genReqId: () => randomUUID() });

const body = {
  type: "object",
  additionalProperties: false,
  required: ["documentType", "documentNumber", "fullName", "phone", "consentGrantedAt"],
  properties: {
    documentType: { type: "string", pattern: "^[A-Za-z0-9_-]{1,32}$" },
    documentNumber: { type: "string", pattern: "^[A-Za-z0-9 .\\-/]{1,32}$" },
    fullName: { type: "string", minLength: 1, maxLength: 200 },
    phone: { type: "string", minLength: 1, maxLength: 64 },
    email: { type: "string", format: "email", maxLength: 254 },
    consentGrantedAt: { type: "string", format: "date-time" },
  },
};
const headers = {
  type: "object",
  required: ["idempotency-key"],
  properties: { "idempotency-key": { type: "string", pattern: "^[\\x21-\\x7e]{1,255}$" } },
};

app.addHook("onRequest", async (request, reply) => {
  const principal = await principalOf(request.headers.authorization);
  reply.headers({ "x-correlation-id": request.id, "cache-control": "no-store" });
  if (principal === undefined) return reply.code(401).send({ code: "INVALID_ACCESS_TOKEN" });
  principals.set(request, principal);
  const isWithin = await quota.consume(principal.id).then(
    () => true,
    () => false,
  );
  if (!isWithin) return reply.code(429).send({ code: "RATE_LIMIT_EXCEEDED" });
  if (!principal.scopes.includes("patients:write")) return reply.code(403).send({ code: "INSUFFICIENT_SCOPE" });
  return undefined;
});

app.post<{ Body: Registration; Headers: { "idempotency-key": string } }>(
  "/patients",
  { schema: { body, headers } },
  async (request, reply) => {
    const principal = principals.get(request);
    if (principal === undefined) throw new Error("the request has no principal");
    const claim = claimOf(principal, request.headers["idempotency-key"], request.body);
    try {
      const call = { claim, correlationId: request.id, principal };
      const patient = await knex.transaction((transaction) => register(transaction, call, request.body));
      return await reply.code(201).send(patient);
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.code !== UNIQUE_VIOLATION) throw error;
      if (error.constraint !== "idempotency_keys_pkey") return reply.code(409).send({ code: "DUPLICATE" });
      return replay(claim, reply);
    }
  },
);

await app.listen({ host: "127.0.0.1", port: 0 });
process.stdout.write(`Peer ${app.listeningOrigin}\n`);

async function principalOf(authorization = ""): Promise<Principal | undefined> {
  const [, token = ""] = /^Bearer (.+)$/.exec(authorization) ?? [];
  try {
    const options = { issuer: "urn:cupo:development-issuer", audience: "urn:cupo:api", typ: "at+jwt" };
    const { payload } = await jwtVerify<{ client_id: string; tenant_id: string; scope: string }>(token, keys, options);
    const { iss, client_id, tenant_id, scope } = payload;
    return { id: `${iss} ${client_id}`, tenantId: tenant_id, scopes: scope.split(" ") };
  } catch {
    return undefined;
  }
}

function claimOf(principal: Principal, key: string, sent: Registration): Claim {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return {
    tenant_id: principal.tenantId,
    key_hash: hash(`${principal.id}\n${OPERATION}\n${key}`),
    fingerprint: hash(JSON.stringify(sent)),
  };
}

async function register(
  transaction: Knex.Transaction,
  call: { claim: Claim; correlationId: string; principal: Principal },
  sent: Registration,
): Promise<object> {
  const { claim, correlationId: correlation_id, principal } = call;
  const { tenantId: tenant_id } = principal;
  await transaction.raw("SELECT set_config('cupo.tenant_id', ?, true)", [tenant_id]);
  await transaction("idempotency_keys").insert({ ...claim, operation: OPERATION, correlation_id });
  const { consentGrantedAt, ...shown } = { id: v7(), ...sent, status: "ACTIVE", version: 1 };
  await addPatient(transaction, tenant_id, shown.id, sent);
  const evidence = { tenant_id, principal: principal.id, correlation_id };
  const consent = { id: v7(), patient_id: shown.id, granted_at: consentGrantedAt };
  await transaction("patient_consents").insert({ ...evidence, ...consent });
  const audited = v7();
  const about = { resource_type: "Patient", resource_id: shown.id, resource_version: 1 };
  const audit = { ...evidence, ...about, id: audited, operation: OPERATION, action: "CREATE" };
  await transaction("audit_events").insert(audit);
  if (WRITES_ALL_ROWS) await transaction("event_outbox").insert({ tenant_id, audit_event_id: audited });
  await transaction("idempotency_keys")
    .where({ tenant_id, key_hash: claim.key_hash })
    .update({ response: Buffer.from(JSON.stringify(shown)) });
  return shown;
}

async function addPatient(
  transaction: Knex.Transaction,
  tenant_id: string,
  id: string,
  sent: Registration,
): Promise<void> {
  const words = WRITES_ALL_ROWS ? searchWords(sent) : [];
  const now = new Date();
  await transaction("patients").insert({
    tenant_id,
    id,
    document_type: sent.documentType,
    document_number: sent.documentNumber,
    full_name: sent.fullName,
    phone: sent.phone,
    email: sent.email ?? null,
    status: "ACTIVE",
    version: 1,
    created_at: now,
    updated_at: now,
    document_type_key: sent.documentType.toUpperCase(),
    document_number_key: sent.documentNumber.toUpperCase().replaceAll(/[ ./-]/g, ""),
    search_words: words,
  });
  const rows = words.map((word) => ({ tenant_id, patient_id: id, word }));
  if (rows.length > 0) await transaction("patient_search_words").insert(rows);
}

async function replay({ tenant_id, key_hash, fingerprint }: Claim, reply: FastifyReply): Promise<FastifyReply> {
  const stored = await knex.transaction(async (transaction) => {
    await transaction.raw("SELECT set_config('cupo.tenant_id', ?, true)", [tenant_id]);
    const found: { fingerprint: Buffer; response: Buffer } | undefined = await transaction("idempotency_keys")
      .where({ tenant_id, key_hash })
      .first("fingerprint", "response");
    return found;
  });
  if (!stored?.fingerprint.equals(fingerprint)) return reply.code(409).send({ code: "IDEMPOTENCY_KEY_REUSED" });
  reply.header("idempotent-replayed", "true").type("application/json");
  return reply.code(201).send(stored.response);
}
