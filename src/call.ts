import { type Code, type ContextValues, createContextKey } from "@connectrpc/connect";

/** The authenticated service principal (specification section 5), as its access token describes it. */
export interface Principal {
  /** Issuer and client together: who the caller is, for idempotency, rate limits, audit and logs. */
  readonly id: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Lower-case UUID. Everything the call reads or writes belongs to this tenant. */
  readonly tenantId: string;
  readonly organizationId: string | undefined;
  readonly companyId: string | undefined;
  readonly scopes: ReadonlySet<string>;
}

/** The kinds of resources that calls change, by their names in the protos. */
export type ResourceType =
  | "Appointment"
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
  | "RetainedAppointment"
  | "Schedule"
  | "ScheduleBlock"
  | "UserAttentionCase"
  | "WaitlistEntry";

/** Whom a resource belongs to within its tenant; each is undefined where everybody's token will do. */
export interface Owner {
  readonly organizationId: string | undefined;
  readonly companyId: string | undefined;
}

/** One thing a call did to one resource; becomes one row of the audit trail, and one event, in the same commit. */
export interface Effect {
  readonly resourceType: ResourceType;
  readonly resourceId: string;
  readonly action: "CREATE" | "UPDATE" | "DELETE";
  /** The version the resource has after the effect, where it has versions. */
  readonly version?: number;
  /**
   * The organization and company of the resource: who does not see it is not told of the effect. Absent for what belongs to
   * the tenant as a whole.
   */
  readonly ownedBy?: Owner;
}

/** A statement built by Knex, or compiled by it before: a {@link Transaction} runs it. */
export interface Statement {
  toSQL(): { toNative(): { readonly sql: string; readonly bindings: readonly unknown[] } };
}

/** A statement that fails where it writes no row, so that the transaction it stands in cannot commit. */
export interface RequiredStatement {
  readonly required: Statement;
}

/**
 * The database transaction of a call, already bound to its tenant. Statements are sent in the order of the calls and
 * without waiting for the answers of earlier ones, so that those started together share a round trip.
 */
export interface Transaction {
  /** The tenant that the transaction is bound to; every statement names it too. */
  readonly tenantId: string;
  /** Runs a statement and gives its rows. Rejects with what the driver rejected, translated when the call ends. */
  rows<Row extends object>(statement: Statement): Promise<Row[]>;
  /** Sends a statement whose outcome the answer does not depend on. A failure of it fails the commit. */
  send(statement: Statement): void;
  /**
   * Sends a statement that has to write a row for the call to succeed, and is not waited for: where it writes none, the
   * transaction is aborted by the statement itself and the call fails with `refusal`. So what a call has still to be refused for
   * when all else was looked at travels with its effects, COMMIT included, in one round trip.
   */
  require(statement: RequiredStatement, refusal: () => unknown): void;
}

/** The request headers that the stages judge, each as often as it was sent. */
export interface CallHeaders {
  readonly authorization: readonly string[];
  readonly idempotencyKey: readonly string[];
  readonly correlationId: readonly string[];
  readonly actorId: readonly string[];
}

/** Ends a part of the work of a call, with what it failed with if it did. A second end of the same part means nothing. */
export type EndOfPart = (failure?: unknown) => void;

/** What tells how a call goes on while it does, where calls are traced. Nothing of its messages and headers gets in. */
export interface CallTrace {
  /** 32 and 16 hexadecimal digits (W3C Trace Context), for log lines. */
  readonly traceId: string;
  readonly spanId: string;
  /** Begins a part within the part that is under way, in whose place it is until it ends. */
  begin(name: string): EndOfPart;
  /** Begins a statement within the part that is under way, beside others. Its verb and its table are told, its text is not. */
  beginStatement(text: string): EndOfPart;
}

/** What travels with a call from its first header to its log line, the same on every transport. */
export interface Call {
  /** UUID: the caller's X-Correlation-Id as sent, or a generated one. */
  readonly correlationId: string;
  readonly headers: CallHeaders;
  /** Milliseconds of a monotonic clock. */
  readonly startedAt: number;
  /** Response headers that the stages add, to successes and errors alike. */
  readonly responseHeaders: Record<string, string>;
  /** What the call has done so far; cleared when its transaction starts again. */
  readonly effects: Effect[];
  /** Gives the next id for what the call creates: a UUID of version 7. */
  readonly newId: () => string;
  /** Full name of the RPC, once it is known: `cupo.access.v1.PatientService/RegisterPatient`. */
  operation?: string;
  /** The code of the Problem that the call ended with, if it failed. */
  problemCode?: string;
  /** How an RPC failed, whatever with; absent where it did not, and over REST. */
  rpcCode?: Code;
  trace?: CallTrace;
  principal?: Principal;
  /** Opaque id of the person behind the principal, where the caller says one: for history and audit, never for the log. */
  actor?: string;
  transaction?: Transaction;
  /** The bytes of the response that an earlier call with the same idempotency key got, where this one replays it. */
  storedResponse?: Uint8Array;
}

/** A call that passed every stage: who calls is known, and a transaction of theirs is open. */
export interface ReadyCall extends Call {
  readonly operation: string;
  readonly principal: Principal;
  readonly transaction: Transaction;
}

/**
 * A call that is answered by a stream and passed every stage. It has no transaction, because none stays open for as long as a
 * stream does: whoever answers opens short ones.
 */
export interface StreamCall extends Call {
  readonly operation: string;
  readonly principal: Principal;
  /** Aborts when the stream has to end: the caller is gone, its time is over, its token expired, the service stops. */
  readonly signal: AbortSignal;
}

const callKey = createContextKey<Call | undefined>(undefined, { description: "cupo.call" });

/** Puts the call where interceptors and services find it. */
export function setCall(values: ContextValues, call: Call): void {
  values.set(callKey, call);
}

/** The call that travels in these context values. Throws where the transport put none: a fault of the composition. */
export function callOf(values: ContextValues): Call {
  const call = values.get(callKey);
  if (call === undefined) throw new Error("no call in the context values");
  return call;
}

/** The principal of a call that passed authentication. */
export function principalOf(values: ContextValues): Principal {
  const { principal } = callOf(values);
  if (principal === undefined) throw new Error("the call is not authenticated");
  return principal;
}

/** The call as one that passed every stage. Throws where it did not: a fault of the composition. */
export function readyCall(call: Call): ReadyCall {
  if (!isReady(call)) throw new Error("the call has not passed every stage");
  return call;
}

/** The call as one that is answered by a stream, which ends with `signal`. Throws as {@link readyCall} does. */
export function streamCall(call: Call, signal: AbortSignal): StreamCall {
  const { operation, principal } = call;
  if (operation === undefined || principal === undefined) throw new Error("the call has not passed every stage");
  return { ...call, operation, principal, signal };
}

function isReady(call: Call): call is ReadyCall {
  return call.operation !== undefined && call.principal !== undefined && call.transaction !== undefined;
}
