import type { Pool } from "pg";
import type { Transaction } from "../call.js";
import { runAcrossTenants, type TransactionSource } from "./run-transaction.js";
import { sql } from "./sql.js";

/** The task that extends the schedules of one tenant. Its payload is an {@link ExtensionPayload}. */
export const EXTEND_SCHEDULE = "extend_schedule";

/** Payload of {@link EXTEND_SCHEDULE}. */
export interface ExtensionPayload {
  readonly tenantId: string;
}

/**
 * Returns the key of the job that extends the schedules of a tenant. A tenant has at most one waiting job with this
 * key, so that all tenants get equal shares of the workers.
 */
export function extensionKey(tenantId: string): string {
  return `${EXTEND_SCHEDULE}:${tenantId}`;
}

/**
 * Queues a job that extends the schedules of the tenant. The job starts after the commit, `pauseSeconds` from now at
 * the earliest. If such a job is already waiting, sets its start time and resets its number of attempts instead.
 */
export function requestExtension(transaction: Transaction, pauseSeconds = 0): void {
  const payload: ExtensionPayload = { tenantId: transaction.tenantId };
  transaction.send(
    sql.raw(ADD_EXTENSION, [
      EXTEND_SCHEDULE,
      JSON.stringify(payload),
      pauseSeconds,
      extensionKey(transaction.tenantId),
    ]),
  );
}

const ADD_EXTENSION = `SELECT graphile_worker.add_job(identifier => ?, payload => ?::json,
  run_at => now() + make_interval(secs => ?), job_key => ?)`;

/** The task that erases every tenant whose erasure was requested. */
export const ERASE_TENANTS = "erase_tenants";

/** Queues the job {@link ERASE_TENANTS}, which starts after the commit. */
export function requestErasure(transaction: Transaction): void {
  transaction.send(
    sql.raw("SELECT graphile_worker.add_job(identifier => ?, job_key => ?)", [ERASE_TENANTS, ERASE_TENANTS]),
  );
}

/** The task that sends events to one webhook. Its payload is a {@link DeliveryPayload}. */
export const DELIVER_WEBHOOK = "deliver_webhook";

/** Payload of {@link DELIVER_WEBHOOK}. */
export interface DeliveryPayload {
  readonly tenantId: string;
  readonly webhookId: string;
}

/**
 * Returns the key of the job that sends events to a webhook. While a job with this key waits, queueing it again adds no
 * job. It replaces the payload and the start time of the waiting job, and resets its number of attempts.
 */
export function deliveryKey({ webhookId }: Pick<DeliveryPayload, "webhookId">): string {
  return `${DELIVER_WEBHOOK}:${webhookId}`;
}

/**
 * Returns the key of the job that continues to send events to a webhook after the sending process has died. A process
 * that sends has a lease on the webhook. The job starts after the lease of the dead process has expired.
 */
export function successorKey({ webhookId }: Pick<DeliveryPayload, "webhookId">): string {
  return `${DELIVER_WEBHOOK}:${webhookId}:successor`;
}

const ADD_DELIVERY = `SELECT graphile_worker.add_job(identifier => '${DELIVER_WEBHOOK}', payload => asked.payload, job_key => asked.key)
  FROM unnest($1::json[], $2::text[]) AS asked (payload, key)`;

/** For each of these webhooks, queues a job that sends events to it. Uses one statement outside any transaction. */
export async function addDeliveryJobs(pool: Pick<Pool, "query">, webhooks: readonly DeliveryPayload[]): Promise<void> {
  const payloads = webhooks.map(({ tenantId, webhookId }) => JSON.stringify({ tenantId, webhookId }));
  await pool.query(ADD_DELIVERY, [payloads, webhooks.map(deliveryKey)]);
}

/** Queues a job that sends events to a webhook. The job starts after the commit. */
export function requestDelivery(transaction: Transaction, webhookId: string): void {
  const payload: DeliveryPayload = { tenantId: transaction.tenantId, webhookId };
  transaction.send(
    sql.raw("SELECT graphile_worker.add_job(identifier => ?, payload => ?::json, job_key => ?)", [
      DELIVER_WEBHOOK,
      JSON.stringify(payload),
      deliveryKey(payload),
    ]),
  );
}

/** Removes the job with a key. A running job is not stopped, but it is not repeated if it fails. */
export async function removeJob(pool: Pick<Pool, "query">, key: string): Promise<void> {
  await pool.query("SELECT graphile_worker.remove_job($1)", [key]);
}

/** The number of jobs that could start now, and for how many seconds the oldest of them has waited: 0 if none waits. */
export interface JobQueueState {
  readonly count: number;
  readonly oldestSeconds: number;
}

const STATE = `SELECT count(*)::integer AS count, coalesce(extract(epoch FROM now() - min(run_at)), 0)::float8 AS "oldestSeconds"
  FROM graphile_worker.jobs WHERE run_at <= now() AND locked_at IS NULL AND attempts < max_attempts`;

/**
 * Returns how many jobs of all tenants could start now, and how long the oldest of them has waited. A job could start
 * if its start time has passed by the database's clock, if it is not running and if it has attempts left.
 */
export async function readJobQueue(source: TransactionSource): Promise<JobQueueState> {
  const [state] = await runAcrossTenants(source, { setting: "cupo.jobs", value: "on" }, (transaction) =>
    transaction.rows<JobQueueState>(sql.raw(STATE)),
  );
  return state ?? { count: 0, oldestSeconds: 0 };
}
