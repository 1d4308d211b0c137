import { randomUUID } from "node:crypto";
import { expect, inject, vi } from "vitest";
import * as fixtures from "../contract/fixtures.js";
import { rpcNamed } from "../contract/published-operations.js";
import { type Clinic, day, mustCall, openClinic, optionsIn } from "../schedule/clinic.js";
import { execute, withDatabase } from "../support/database.js";
import { registration } from "../support/registration.js";
import type { RestAnswer } from "../support/rest-request.js";
import { callRpc } from "../support/rpc.js";
import type { TestService } from "../support/service.js";

const TENANTS_OF_WORKER = 3;
/**
 * Longer than `citus.recover_2pc_interval` (one minute): until then Citus may leave prepared transactions of a lost
 * worker open.
 */
const patience = { timeout: 240_000, interval: 20 } as const;

/** A clinic of a tenant, the calls of its client and their answers. */
export interface Caller {
  readonly clinic: Clinic;
  readonly tenantId: string;
  /** The worker that has the tenant's shards. */
  readonly worker: string;
  /** The rule of a program without a schedule. Each change of it adds a job on the coordinator. */
  readonly rule: { readonly programId: string; readonly ruleId: string };
  readonly patientIds: string[];
  readonly appointmentIds: string[];
  readonly statuses: number[];
  readonly writes: Write[];
}

/** An acknowledged call, and a function that sends it again with its key. */
interface Write {
  readonly acknowledged: RestAnswer;
  readonly send: () => Promise<RestAnswer>;
}

/** A fault of a worker. */
export interface Outage {
  begin(): Promise<void>;
  end(): Promise<void>;
}

/**
 * Lets tenants of all workers register, book and change rules during an outage of one worker. Requires:
 * - 503 with Retry-After for the tenants of the worker, and only successes for the others
 * - each acknowledged call was executed once and is replayed with its key
 * - the bookings are consistent
 */
export async function expectToSurvive(service: TestService, away: string, outage: Outage): Promise<void> {
  const callers = await openCallers(service);
  const [struck = [], spared = []] = [true, false].map((is) =>
    callers.filter(({ worker }) => (worker === away) === is),
  );
  let isOver = false;
  const work = Promise.all(callers.map((caller) => keepWorking(caller, () => isOver)));
  const until = (isSo: () => boolean) => Promise.race([vi.waitUntil(isSo, patience), work]);
  await until(() => callers.every(({ appointmentIds }) => appointmentIds.length > 0));

  await outage.begin();
  const before = new Map(callers.map((caller) => [caller, caller.appointmentIds.length]));
  const hasGrown = (caller: Caller) => caller.appointmentIds.length > 1 + (before.get(caller) ?? 0);
  await until(() => struck.every(({ statuses }) => statuses.includes(503)) && spared.every(hasGrown));
  await outage.end();
  await until(() => callers.every(hasGrown));
  isOver = true;
  await work;

  expect(new Set(struck.flatMap(({ statuses }) => statuses))).toEqual(new Set([200, 201, 503]));
  expect(new Set(spared.flatMap(({ statuses }) => statuses))).toEqual(new Set([200, 201]));
  for (const caller of callers) {
    await expectReplays(caller);
    await expectDoneOnce(caller);
  }
  console.info(`| ${[struck, spared].map(countsOf).join(" | ")} |`);
}

/** Creates the same number of tenants on each worker. */
async function openCallers(service: TestService): Promise<Caller[]> {
  const { workerUrls } = inject("testServer");
  const callers: Caller[] = [];
  while (callers.length < TENANTS_OF_WORKER * workerUrls.length) {
    const tenantId = randomUUID();
    const worker = await workerOf(service, tenantId);
    if (callers.filter((other) => other.worker === worker).length === TENANTS_OF_WORKER) continue;
    const as = { tenantId };
    const [clinic, rule] = [await openClinic(service, { as }), await fixtures.createRuledProgram(service, as)];
    callers.push({ clinic, tenantId, worker, rule, patientIds: [], appointmentIds: [], statuses: [], writes: [] });
  }
  return callers;
}

async function workerOf(service: TestService, tenantId: string): Promise<string> {
  const [row] = await service.query(
    `SELECT nodeport FROM citus_shards WHERE shardid = get_shard_id_for_distribution_column('patients', '${tenantId}')`,
  );
  return inject("testServer").workerUrls.find((url) => new URL(url).port === String(row?.["nodeport"])) ?? "";
}

/** Repeats: registers a patient, books the first option and changes the rule. */
async function keepWorking(caller: Caller, isOver: () => boolean): Promise<void> {
  const { clinic, tenantId, rule } = caller;
  const { service, requestSourceId, appointmentTypeId } = clinic;
  const token = await service.token({ tenantId });
  while (!isOver()) {
    const body = registration();
    const registered = await write(caller, (headers) => service.request("POST", "/patients", { token, headers, body }));
    const patientId = String(registered.body["id"]);
    caller.patientIds.push(patientId);
    const options = await insist(caller, () => rpc(clinic, "SearchAppointmentOptions", wishOf(clinic, patientId)));
    const optionToken = `${optionsIn(options)[0]?.optionToken}`;
    const wanted = { patientId, optionToken, requestSourceId, appointmentTypeId };
    const booked = await write(caller, (headers) => rpc(clinic, "BookAppointment", wanted, headers));
    caller.appointmentIds.push((booked.body["appointment"] as { appointmentId: string }).appointmentId);
    const expectedVersion = caller.appointmentIds.length;
    const change = { ...rule, dailyCapacity: expectedVersion, expectedVersion };
    await write(caller, (headers) => rpc(clinic, "UpdateProgramRule", change, headers));
  }
}

/** Sends a write with the same key until it is acknowledged. */
async function write(caller: Caller, send: (headers: Record<string, string>) => Promise<RestAnswer>) {
  const headers = { "idempotency-key": randomUUID() };
  const acknowledged = await insist(caller, () => send(headers));
  caller.writes.push({ acknowledged, send: () => send(headers) });
  return acknowledged;
}

async function insist({ statuses }: Caller, send: () => Promise<RestAnswer>): Promise<RestAnswer> {
  return vi.waitUntil(async () => {
    const answer = await send();
    statuses.push(answer.status);
    if (answer.status === 503) expect(answer.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    return answer.status < 300 && answer;
  }, patience);
}

function wishOf(clinic: Clinic, patientId: string) {
  return { patientId, serviceId: clinic.serviceId, dateFrom: day(clinic, 2), dateTo: day(clinic, 13) };
}

function rpc(clinic: Clinic, method: string, request: Parameters<typeof callRpc>[2], headers = {}) {
  return callRpc(clinic.service, rpcNamed(method), request, { as: clinic.as, headers });
}

async function expectReplays({ writes }: Caller): Promise<void> {
  for (const { acknowledged, send } of writes) {
    const { status, body, headers } = await send();
    expect({ status, body }).toEqual({ status: acknowledged.status, body: acknowledged.body });
    expect(headers.get("idempotent-replayed")).toBe("true");
  }
}

async function expectDoneOnce({ clinic, tenantId, rule, patientIds, appointmentIds }: Caller): Promise<void> {
  const name = new URL(clinic.service.databaseUrl).pathname.slice(1);
  const url = withDatabase(inject("testServer").adminUrl, name);
  const valuesOf = async (column: string, table: string) => {
    const rows = await execute(
      url,
      `SELECT ${column} AS shown FROM ${table} WHERE tenant_id = '${tenantId}' ORDER BY 1`,
    );
    return rows.map(({ shown }) => shown);
  };
  expect(await valuesOf("id", "patients")).toEqual(patientIds.toSorted());
  expect(await valuesOf("id", "appointments")).toEqual(appointmentIds.toSorted());
  const [kept] = await execute(
    url,
    `SELECT version FROM program_rules WHERE tenant_id = '${tenantId}' AND id = '${rule.ruleId}'`,
  );
  expect(kept).toEqual({ version: 1 + appointmentIds.length });
  const { invariantReport } = await mustCall(clinic, "VerifyInvariants", {});
  expect(invariantReport).toMatchObject({ findings: [], liveAppointmentCount: appointmentIds.length });
}

function countsOf(callers: readonly Caller[]): string {
  const statuses = callers.flatMap((caller) => caller.statuses);
  const refused = statuses.filter((status) => status === 503).length;
  return `${statuses.length - refused} successes, ${refused} times 503`;
}
