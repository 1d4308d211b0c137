import { type Code, type ContextValues, createContextKey } from "@connectrpc/connect";

/** The authenticated caller, as its access token describes it. */
export interface Principal {
  /** The text `<issuer> <client id>`. It identifies the caller for idempotency, rate limits, audit and logs. */
  readonly id: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Lower-case UUID. A call reads and writes only data of this tenant, unless an operator calls TenantService. */
  readonly tenantId: string;
  readonly organizationId: string | undefined;
  readonly companyId: string | undefined;
  readonly scopes: ReadonlySet<string>;
}

/** The types of resources that calls change, by their names in the protos. */
export type ResourceType =
  | "Appointment"
  | "AppointmentHold"
  | "AppointmentType"
  | "CancellationReason"
  | "ConsultationType"
  | "Contract"
  | "CoveredServices"
  | "EligibilityDecision"
  | "HealthcareService"
  | "Holiday"
  | "Location"
  | "Note"
  | "NoShowReason"
  | "OpportunityDefinition"
  | "Patient"
  | "Payer"
  | "Practitioner"
  | "Program"
  | "ProgramPractitioners"
  | "ProgramRule"
  | "ProgramServices"
  | "RequestSource"
  | "DisplacedAppointment"
  | "Schedule"
  | "ScheduleBlock"
  | "Tenant"
  | "TenantSettings"
  | "UserAttentionCase"
  | "WaitlistEntry"
  | "Webhook";

/**
 * The organization and company that own a resource within its tenant. An undefined id does not restrict which callers
 * may see the resource.
 */
export interface Owner {
  readonly organizationId: string | undefined;
  readonly companyId: string | undefined;
}

/** A change of one resource. It becomes one row of the audit trail and one event, in the transaction of the change. */
export interface Effect {
  readonly resourceType: ResourceType;
  readonly resourceId: string;
  /** OFFERED: a slot was offered to a waitlist entry. The entry did not change. */
  readonly action: "CREATE" | "UPDATE" | "DELETE" | "OFFERED";
  /** Version after the change. Absent for a new WaitlistEntry or UserAttentionCase, and if the type has no versions. */
  readonly version?: number;
  /**
   * The owner of the resource. Only callers who may see the resource receive the event of the change. Absent for
   * resources of the whole tenant.
   */
  readonly ownedBy?: Owner;
}

/** An SQL statement, built by Knex or precompiled. A {@link Transaction} runs it. */
export interface Statement {
  toSQL(): { toNative(): { readonly sql: string; readonly bindings: readonly unknown[] } };
}

/** A statement that must write a row. If it writes no row, it fails, so the transaction cannot commit. */
export interface RequiredStatement {
  readonly required: Statement;
}

/**
 * The database transaction of a call, bound to its tenant. Sends statements in the order in which it receives them,
 * without waiting for earlier results. Statements of the same turn of the event loop share a round trip. If the
 * operation takes no idempotency key, each round trip before the first write or lock has its own transaction.
 */
export interface Transaction {
  /** The tenant of the transaction. Every statement must also name this tenant. */
  readonly tenantId: string;
  /**
   * Runs a statement and returns its rows. Rejects with the error of the database driver. When the call ends, this
   * error is converted to a {@link CupoError}.
   */
  rows<Row extends object>(statement: Statement): Promise<Row[]>;
  /** Sends a statement whose result the response does not need. If the statement fails, the commit fails. */
  send(statement: Statement): void;
  /**
   * Sends a statement without waiting for it. If it writes no row, the transaction aborts and the call fails with the
   * error that `refusal` returns. So the last check of a call shares one round trip with the audit rows and COMMIT.
   */
  require(statement: RequiredStatement, refusal: () => unknown): void;
}

/** The request headers that the interceptors read. Each member contains all values that the caller sent. */
export interface CallHeaders {
  readonly authorization: readonly string[];
  readonly idempotencyKey: readonly string[];
  readonly correlationId: readonly string[];
  readonly actorId: readonly string[];
}

/** Ends a span. `failure` is the error with which the traced work failed, if any. A second call does nothing. */
export type EndOfPart = (failure?: unknown) => void;

/** Records interceptors and statements of a call as spans of a trace. They have no data of messages or headers. */
export interface CallTrace {
  /** The id of the trace, for log lines: 32 hexadecimal digits (W3C Trace Context). */
  readonly traceId: string;
  /** The id of the span of the whole call: 16 hexadecimal digits. */
  readonly spanId: string;
  /** Starts a span within the current span. The new span is the current span until it ends. */
  begin(name: string): EndOfPart;
  /** Starts a span within the current span, named by command and table of the SQL `text`. Such spans can overlap. */
  beginStatement(text: string): EndOfPart;
}

/** The state of a call, from the arrival of its headers until its log line. Its form is the same on every transport. */
export interface Call {
  /** UUID: the caller's X-Correlation-Id as sent, or a generated one. */
  readonly correlationId: string;
  readonly headers: CallHeaders;
  /** The start of the call, in milliseconds of a monotonic clock. */
  readonly startedAt: number;
  /** Response headers that the interceptors add. Both successful answers and errors have these headers. */
  readonly responseHeaders: Record<string, string>;
  /** The changes of the call so far. Cleared before the transaction is repeated, and after a call with validateOnly. */
  readonly effects: Effect[];
  /** Returns the id for a new resource: a UUID of version 7. */
  readonly newId: () => string;
  /** The full name of the RPC, such as `cupo.access.v1.PatientService/RegisterPatient`. Absent until it is known. */
  operation?: string;
  /** The code of the Problem, if the call failed. */
  problemCode?: string;
  /** The name of the limit that rejected the call, such as `quota`. Metrics use the same names. */
  limit?: string;
  /** The Connect code of the error, if the call failed over Connect, gRPC or gRPC-Web. */
  rpcCode?: Code;
  trace?: CallTrace;
  principal?: Principal;
  /**
   * The opaque id of the person who uses the client, if the caller sent one. It is stored in the histories of resources
   * and in the audit trail, never in logs.
   */
  actor?: string;
  transaction?: Transaction;
  /** The encoded response of an earlier call with the same idempotency key, if this call replays it. */
  storedResponse?: Uint8Array;
}

/** A call that passed every interceptor. It has a principal and an open transaction. */
export interface ReadyCall extends Call {
  readonly operation: string;
  readonly principal: Principal;
  readonly transaction: Transaction;
}

/**
 * A call that passed every interceptor and is answered by a stream. It has no transaction, because a transaction must
 * not stay open as long as a stream. The implementation opens short transactions.
 */
export interface StreamCall extends Call {
  readonly operation: string;
  readonly principal: Principal;
  /**
   * Aborts when the stream must end: the caller disconnected, the time limit is over, the token is no longer valid, or
   * the service stops.
   */
  readonly signal: AbortSignal;
}

const callKey = createContextKey<Call | undefined>(undefined, { description: "cupo.call" });

/** Adds the call to the context values, for interceptors and services. */
export function setCall(values: ContextValues, call: Call): void {
  values.set(callKey, call);
}

/** Returns the call in these context values. Throws if the transport did not add a call. */
export function callOf(values: ContextValues): Call {
  const call = values.get(callKey);
  if (call === undefined) throw new Error("no call in the context values");
  return call;
}

/** Returns the principal of a call. Throws if the call is not authenticated. */
export function principalOf(values: ContextValues): Principal {
  const { principal } = callOf(values);
  if (principal === undefined) throw new Error("the call is not authenticated");
  return principal;
}

/** Returns the call as a {@link ReadyCall}. Throws if its operation, principal or transaction is not set yet. */
export function readyCall(call: Call): ReadyCall {
  if (!isReady(call)) throw new Error("the call has not passed every stage");
  return call;
}

/**
 * Returns the call as a {@link StreamCall} with the given signal. Throws if its operation or principal is not set yet.
 */
export function streamCall(call: Call, signal: AbortSignal): StreamCall {
  const { operation, principal } = call;
  if (operation === undefined || principal === undefined) throw new Error("the call has not passed every stage");
  return { ...call, operation, principal, signal };
}

function isReady(call: Call): call is ReadyCall {
  return call.operation !== undefined && call.principal !== undefined && call.transaction !== undefined;
}
