/**
 * The peer: POST /patients as a good engineer would write it on a normal day, with Fastify, Knex and jose, and with the guarantees of
 * the service: a verified token with its scope, a quota, a closed body, one effect for a key and its stored result for a repeated
 * one, consent, audit and event in the same transaction, row-level security, the words of the search, a log line, no other ACTIVE
 * patient with the document. It is started by ../peers.mjs with JWK, DATABASE_URL and HOST_PORT; prints its address.
 */
import { createHash, randomUUID } from "node:crypto";
import Fastify from "fastify";
import { createLocalJWKSet, jwtVerify } from "jose";
import knexOf from "knex";
import { RateLimiterMemory } from "rate-limiter-flexible";
import { v7 } from "uuid";
import { searchWords } from "../../dist/postgres/search/search-words.js";

const OPERATION = "cupo.access.v1.PatientService/RegisterPatient";
const QUOTA = 1_000_000_000;
const UNIQUE_VIOLATION = "23505";

const knex = knexOf({ client: "pg", connection: process.env.DATABASE_URL, pool: { min: 10, max: 10 } });
const keys = createLocalJWKSet({ keys: [JSON.parse(process.env.JWK)] });
const quota = new RateLimiterMemory({ points: QUOTA, duration: 60 });
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
  request.principal = principal;
  const isWithin = await quota.consume(principal.id).then(
    () => true,
    () => false,
  );
  if (!isWithin) return reply.code(429).send({ code: "RATE_LIMIT_EXCEEDED" });
  if (!principal.scopes.includes("patients:write")) return reply.code(403).send({ code: "INSUFFICIENT_SCOPE" });
  return undefined;
});

app.post("/patients", { schema: { body, headers } }, async (request, reply) => {
  const claim = claimOf(request);
  try {
    const patient = await knex.transaction((transaction) => register(transaction, claim, request));
    return await reply.code(201).send(patient);
  } catch (error) {
    if (error.code !== UNIQUE_VIOLATION) throw error;
    if (error.constraint !== "idempotency_keys_pkey") return reply.code(409).send({ code: "DUPLICATE" });
    return replay(claim, request, reply);
  }
});

await app.listen({ host: "127.0.0.1", port: 0 });
process.stdout.write(`Peer ${app.listeningOrigin}\n`);

async function principalOf(authorization = "") {
  const [, token = ""] = /^Bearer (.+)$/.exec(authorization) ?? [];
  try {
    const terms = { issuer: "urn:cupo:development-issuer", audience: "urn:cupo:api", typ: "at+jwt" };
    const { payload } = await jwtVerify(token, keys, terms);
    const { iss, client_id, tenant_id, scope } = payload;
    return { id: `${iss} ${client_id}`, tenantId: tenant_id, scopes: scope.split(" ") };
  } catch {
    return undefined;
  }
}

function claimOf({ body: sent, headers: given, principal }) {
  const hash = (text) => createHash("sha256").update(text).digest();
  return {
    tenant_id: principal.tenantId,
    key_hash: hash(`${principal.id}\n${OPERATION}\n${given["idempotency-key"]}`),
    fingerprint: hash(JSON.stringify(sent)),
  };
}

async function register(transaction, claim, { id: correlation_id, body: sent, principal }) {
  const { tenantId: tenant_id } = principal;
  await transaction.raw("SELECT set_config('cupo.tenant_id', ?, true)", [tenant_id]);
  await transaction("idempotency_keys").insert({ ...claim, operation: OPERATION, correlation_id });
  const now = new Date();
  const patient = { id: v7(), ...sent, status: "ACTIVE", version: 1 };
  const { consentGrantedAt, ...shown } = patient;
  const words = searchWords(sent);
  await transaction("patients").insert({
    tenant_id,
    id: patient.id,
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
  await transaction("patient_search_words").insert(words.map((word) => ({ tenant_id, patient_id: patient.id, word })));
  const evidence = { tenant_id, principal: principal.id, correlation_id };
  await transaction("patient_consents").insert({
    ...evidence,
    id: v7(),
    patient_id: patient.id,
    granted_at: consentGrantedAt,
  });
  const audited = v7();
  const about = { resource_type: "Patient", resource_id: patient.id, resource_version: 1 };
  await transaction("audit_events").insert({
    ...evidence,
    ...about,
    id: audited,
    operation: OPERATION,
    action: "CREATE",
  });
  await transaction("event_outbox").insert({ tenant_id, audit_event_id: audited });
  await transaction("idempotency_keys")
    .where({ tenant_id, key_hash: claim.key_hash })
    .update({ response: Buffer.from(JSON.stringify(shown)) });
  return shown;
}

async function replay({ tenant_id, key_hash, fingerprint }, request, reply) {
  const [stored] = await knex.transaction(async (transaction) => {
    await transaction.raw("SELECT set_config('cupo.tenant_id', ?, true)", [tenant_id]);
    return transaction("idempotency_keys").where({ tenant_id, key_hash }).select("fingerprint", "response");
  });
  if (!stored?.fingerprint.equals(fingerprint)) return reply.code(409).send({ code: "IDEMPOTENCY_KEY_REUSED" });
  reply.header("idempotent-replayed", "true").type("application/json");
  return reply.code(201).send(stored.response);
}
