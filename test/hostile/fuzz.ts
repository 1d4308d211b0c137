import { randomUUID } from "node:crypto";
import type { DescMethodUnary, JsonValue } from "@bufbuild/protobuf";
import * as fc from "fast-check";
import { operationOf } from "../../src/operation.js";
import * as fixtures from "../contract/fixtures.js";
import { bookFirst, call, openClinic, optionsFor } from "../schedule/clinic.js";
import { isTooBusy } from "../support/once.js";
import { registration } from "../support/registration.js";
import type { TestService } from "../support/service.js";
import { fuzzedOperations, type GeneratedRequest, requestsTo } from "./generated-requests.js";
import { MARKER } from "./good-values.js";
import { faultsInLog, faultsOf, tracesOf } from "./judge-answer.js";
import type { RequestContext } from "./pending.js";
import { sendGenerated, type Verdict } from "./send-generated.js";

/** The number of answers by operation name and status. */
export type Tally = Map<string, Map<number, number>>;

/** A clinic that receives requests, and the values of its answers. */
export interface Field {
  readonly service: TestService;
  readonly tenantId: string;
  readonly known: Map<string, JsonValue[]>;
  readonly context: RequestContext;
  readonly tally: Tally;
}

/** The number of values that are kept for each name. */
const KEPT = 20;
/** References that a clinic does not create itself, by the name of their id. */
const REFERRED = {
  payerId: fixtures.payer,
  contractId: fixtures.contract,
  opportunityDefinitionId: fixtures.opportunityDefinition,
  consultationTypeId: fixtures.consultationType,
  cancellationReasonId: fixtures.cancellationReason,
  noShowReasonId: fixtures.noShowReason,
};
/** The most attempts of a request while the service is too busy. */
const ATTEMPTS = 10;

/**
 * Sends requests to every operation and checks each answer:
 * - Its status is listed by the operation and below 500.
 * - A rejection is a Problem, contains nothing that was sent and has no effect.
 * - The log contains neither errors nor sent values.
 *
 * At the end the bookings must be consistent. Rejects with the smallest failing request of each operation and its seed.
 */
export async function fuzz(
  field: Field,
  seed: number,
  requestsEach: number,
  operations: readonly DescMethodUnary[] = fuzzedOperations,
): Promise<void> {
  const failures: string[] = [];
  for (const [index, method] of operations.entries()) {
    const property = fc.asyncProperty(requestsTo(method), (request) => attempt(field, request));
    const outcome = await fc.check(property, { seed: seed + index, numRuns: requestsEach });
    if (outcome.failed) failures.push(`${fc.defaultReportMessage(outcome)}\n${String(outcome.errorInstance)}`);
  }
  const { service, tenantId } = field;
  const { body } = await call({ service, as: { tenantId } }, "VerifyInvariants", {});
  const { findings } = body["invariantReport"] as { readonly findings: readonly object[] };
  requireNoFaults([...failures, ...findings.map((finding) => JSON.stringify(finding))]);
}

async function attempt(field: Field, request: GeneratedRequest): Promise<void> {
  const { service, context, tally } = field;
  const from = service.log.length;
  const token = await service.token({ tenantId: field.tenantId });
  let verdict = await sendGenerated(service, context, token, request);
  for (let sent = 1; sent < ATTEMPTS && isTooBusy(verdict); sent++)
    verdict = await sendGenerated(service, context, token, request);
  count(tally, request.method.name, verdict.status);
  const isSuccess = verdict.status === operationOf(request.method).successStatus;
  if (isSuccess) rememberAll(field.known, verdict);
  const traces = isSuccess ? [] : await tracesOf(service, verdict);
  requireNoFaults([...faultsOf(request, verdict), ...faultsInLog(service.log, from), ...traces]);
}

function requireNoFaults(faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(faults.join("\n\n"));
}

/** Creates a clinic with the resources that most requests refer to. */
export async function openField(service: TestService, tally: Tally = new Map()): Promise<Field> {
  const as = { tenantId: randomUUID() };
  const clinic = await openClinic(service, { as });
  const known = new Map<string, JsonValue[]>();
  const text = `Paciente ${MARKER}`;
  const patientId = await fixtures.createPatient(service, registration({ fullName: text }), as);
  const [option] = await optionsFor(clinic, { patientId });
  const { serviceId, programId, ruleId, requestSourceId, appointmentTypeId, practitionerIds } = clinic;
  const catalogs = { serviceId, requestSourceId, appointmentTypeId, practitionerIds: [...practitionerIds] };
  const { appointmentId, locationId } = await bookFirst(clinic, patientId, {}, 1);
  remember(known, "", { ...catalogs, programId, ruleId, patientId, appointmentId, locationId });
  for (const [name, maker] of Object.entries(REFERRED)) remember(known, name, await maker.create(service, as));
  remember(known, "", { optionToken: `${option?.optionToken}` });
  const context = { now: service.now, known: (name: string, number: number) => recall(known, name, number) };
  return { service, tenantId: as.tenantId, known, context, tally };
}

function rememberAll(known: Field["known"], { body }: Verdict): void {
  for (const [name, value] of Object.entries(body)) remember(known, name, value as JsonValue);
}

/**
 * Collects the ids, tokens, cursors and versions of an answer by their member names. A member `id` gets the name of its
 * resource.
 */
function remember(known: Field["known"], name: string, value: JsonValue): void {
  if (Array.isArray(value)) for (const each of value) remember(known, name.replace(/s$/, ""), each);
  else if (value !== null && typeof value === "object")
    for (const [member, held] of Object.entries(value)) remember(known, member === "id" ? `${name}Id` : member, held);
  else if (value !== "" && /Id$|token$|cursor$|^version$/i.test(name))
    known.set(name, [...(known.get(name) ?? []), value].slice(-KEPT));
}

function recall(known: Field["known"], name: string, number: number): JsonValue | undefined {
  const ending = [...known.keys()].find((each) => name.toLowerCase().endsWith(each.toLowerCase()));
  const values = known.get(name) ?? known.get(ending ?? "") ?? [];
  return values.at(-1 - (number % Math.max(1, values.length)));
}

function count(tally: Tally, operation: string, status: number): void {
  const row = tally.get(operation) ?? new Map<number, number>();
  row.set(status, (row.get(status) ?? 0) + 1);
  tally.set(operation, row);
}
