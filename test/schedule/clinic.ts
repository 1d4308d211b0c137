import type { JsonObject } from "@bufbuild/protobuf";
import * as fixtures from "../contract/fixtures.js";
import { rpcNamed } from "../contract/published-operations.js";
import * as resources from "../operations-clinic/resources-under-test.js";
import { createFromTemplate, type RowsOf } from "../support/fixture-templates.js";
import { oncePerPrincipal } from "../support/once-per-principal.js";
import type { RestAnswer } from "../support/rest-request.js";
import { callRpc } from "../support/rpc.js";
import type { TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";

/** The resources that belong to one clinic. */
interface ClinicIds {
  readonly serviceId: string;
  readonly practitionerIds: readonly string[];
  readonly programId: string;
  readonly ruleId: string;
}

/** A program with everything that a booking needs. */
export interface Clinic extends ClinicIds {
  readonly service: TestService;
  readonly as: TokenFor;
  readonly requestSourceId: string;
  readonly appointmentTypeId: string;
}

/** Deviations from the default clinic, such as resources of another clinic. */
export interface ClinicChanges {
  readonly as?: TokenFor;
  readonly serviceId?: string;
  readonly practitionerIds?: readonly string[];
  readonly program?: JsonObject;
  readonly rule?: JsonObject;
  /** Whether to materialize the schedule. Defaults to true. */
  readonly materialized?: boolean;
}

/** A booking option, in its JSON form. */
export interface OptionBody {
  readonly optionToken: string;
  readonly expiresAt: string;
  readonly startsAt: string;
  readonly endsAt: string;
  readonly programId: string;
  readonly locationId: string;
  readonly practitionerId: string;
}

/** An appointment as staff see it, in its JSON form. */
export interface AppointmentBody {
  readonly appointmentId: string;
  readonly status: string;
  readonly version: number;
  readonly patientId: string;
  readonly startsAt: string;
  readonly endsAt: string;
  readonly practitionerId: string;
  readonly locationId: string;
  readonly displaced: boolean;
}

/** A rule of eight slots from 8:00 to 12:00 on each day of the year. The daily capacity is 20 appointments. */
export const everyMorning: JsonObject = {
  ...fixtures.ruleAttributes,
  weekdays: [1, 2, 3, 4, 5, 6, 7],
  validFrom: "2020-01-01",
  validTo: "2099-12-31",
  holidayDates: [],
  holidayPolicy: "INCLUDE",
};

/** Catalog entries that the clinics of a principal share. No test changes them. */
interface CommonCatalogs {
  readonly opportunityDefinitionId: string;
  readonly requestSourceId: string;
  readonly appointmentTypeId: string;
}

/**
 * Days from today on which a clinic is open by default. A schedule up to the horizon would take longer to make than
 * most tests.
 */
const DAYS_OPEN = 14;

/**
 * Creates a program with a service, a practitioner, a rule and a materialized schedule. Catalog entries are shared with
 * other clinics. The program is open each morning for 14 days, unless `changes.rule` has another `validTo`.
 */
export async function openClinic(service: TestService, changes: ClinicChanges = {}): Promise<Clinic> {
  const { as = {}, practitionerIds, materialized = true } = changes;
  const catalogs = await commonCatalogs(service, as);
  const rule: JsonObject = { ...everyMorning, validTo: day({ service }, DAYS_OPEN), ...changes.rule };
  const make = () => makeClinic(service, catalogs, { ...changes, rule });
  const dependsOnOthers = practitionerIds !== undefined || rule["holidayPolicy"] !== everyMorning["holidayPolicy"];
  const words = JSON.stringify([await calendarOf(service, as), catalogs, { ...changes, rule }]);
  const ids =
    dependsOnOthers || !materialized ? await make() : await createFromTemplate(service, words, rowsOfClinic, make);
  const { requestSourceId, appointmentTypeId } = catalogs;
  return { service, as, ...ids, requestSourceId, appointmentTypeId };
}

/**
 * Identifies what the schedules of a tenant depend on besides their programs: the date, and the tenant's holidays, blocks
 * and settings. If a tenant has any of these, or the database of an older release lacks a table, the tenant's id is also
 * written without hyphens, so that no fixture is copied from another tenant.
 */
export async function calendarOf(service: TestService, { tenantId = service.tenantId }: TokenFor): Promise<string> {
  const rows = ["holidays", "schedule_blocks", "tenant_settings"].map(
    (table) => `SELECT 1 FROM ${table} WHERE tenant_id = '${tenantId}'`,
  );
  const found = service.query(`${rows.join(" UNION ALL ")} LIMIT 1`);
  const hasOwn = await found.then(
    ({ length }) => length > 0,
    () => true,
  );
  return `${day({ service }, 0)}${hasOwn ? ` of ${tenantId.replaceAll("-", "")}` : ""}, ${tenantId}`;
}

/** Conditions that select the rows of one clinic, per table. */
export const rowsOfClinic: RowsOf<ClinicIds> = ({ programId, serviceId, practitionerIds }) => ({
  locations: `id = (SELECT location_id FROM programs WHERE id = '${programId}')`,
  healthcare_services: `id = '${serviceId}'`,
  practitioners: `id IN (${practitionerIds.map((id) => `'${id}'`).join()})`,
  programs: `id = '${programId}'`,
  program_rules: `program_id = '${programId}'`,
  program_services: `program_id = '${programId}'`,
  program_practitioners: `program_id = '${programId}'`,
  slots: `program_id = '${programId}'`,
  calendars: `tenant_id = (SELECT tenant_id FROM programs WHERE id = '${programId}')`,
});

async function makeClinic(
  service: TestService,
  { opportunityDefinitionId }: CommonCatalogs,
  { as = {}, program = {}, rule = {}, materialized = true, ...given }: ClinicChanges,
): Promise<ClinicIds> {
  const [serviceId, practitionerIds, programId] = await Promise.all([
    given.serviceId ?? createIn(service, resources.healthcareService, { opportunityDefinitionId }, as),
    given.practitionerIds ?? fixtures.practitioner.create(service, as).then((id) => [id]),
    fixtures.createProgram(service, program, as),
  ]);
  const ruleId = await fixtures.createRule(service, programId, rule, as);
  const clinic = { service, as };
  await mustCall(clinic, "ReplaceProgramServices", { programId, serviceIds: [serviceId], expectedVersion: 1 });
  const practitioners = { programId, practitionerIds: [...practitionerIds], expectedVersion: 1 };
  await mustCall(clinic, "ReplaceProgramPractitioners", practitioners);
  if (materialized) await mustCall(clinic, "MaterializeSchedule", { programId });
  return { serviceId, practitionerIds, programId, ruleId };
}

/** Returns the shared catalog entries of a principal. Creates them once. */
export const commonCatalogs = oncePerPrincipal(createCommonCatalogs);

async function createCommonCatalogs(service: TestService, as: TokenFor): Promise<CommonCatalogs> {
  const opportunityDefinitionId = await createIn(service, resources.opportunityDefinition, {}, as);
  const [requestSourceId, appointmentTypeId] = await Promise.all([
    createIn(service, resources.requestSource, {}, as),
    createIn(service, resources.appointmentType, { opportunityDefinitionId }, as),
  ]);
  return { opportunityDefinitionId, requestSourceId, appointmentTypeId };
}

async function createIn(...made: Parameters<typeof resources.provideResource>): Promise<string> {
  return (await resources.provideResource(...made)).id;
}

/** Calls an RPC as the clinic's principal. */
export function call({ service, as }: Pick<Clinic, "service" | "as">, rpc: string, request: JsonObject) {
  return callRpc(service, rpcNamed(rpc), request, { as });
}

/** Calls an RPC and returns its response. Throws unless the answer is 200. */
export async function mustCall(
  clinic: Pick<Clinic, "service" | "as">,
  rpc: string,
  request: JsonObject,
): Promise<JsonObject> {
  const { status, body, text } = await call(clinic, rpc, request);
  if (status !== 200) throw new Error(`${rpc} must succeed, but the answer is ${text}`);
  return body as JsonObject;
}

/** Materializes the schedule of the clinic's program. */
export async function materialize(clinic: Clinic): Promise<JsonObject> {
  const { materialization } = await mustCall(clinic, "MaterializeSchedule", { programId: clinic.programId });
  return materialization as JsonObject;
}

/** Returns the local date a number of days after today. */
export function day({ service }: Pick<Clinic, "service">, days: number): string {
  const bogotaOffsetMs = -5 * 3_600_000;
  return new Date(service.now() + bogotaOffsetMs + days * 86_400_000).toISOString().slice(0, 10);
}

/** Searches for options. Defaults to the day after tomorrow. */
export function search(clinic: Clinic, request: JsonObject): Promise<RestAnswer> {
  const dates = { dateFrom: day(clinic, 2), dateTo: day(clinic, 2) };
  return call(clinic, "SearchAppointmentOptions", { serviceId: clinic.serviceId, ...dates, ...request });
}

/** Returns the options that a search finds. Throws if the answer is an error. */
export async function optionsFor(clinic: Clinic, request: JsonObject): Promise<readonly OptionBody[]> {
  return optionsIn(await search(clinic, request));
}

/** Returns the options in an answer. Throws if the answer is an error. */
export function optionsIn({ status, text, body }: RestAnswer): readonly OptionBody[] {
  if (status !== 200) throw new Error(`options were expected, but the answer is ${text}`);
  return body["options"] as readonly OptionBody[];
}

/** Books the slots of an option token. */
export function book(clinic: Clinic, patientId: string, optionToken: string, changes: JsonObject = {}) {
  const { requestSourceId, appointmentTypeId } = clinic;
  return call(clinic, "BookAppointment", { patientId, optionToken, requestSourceId, appointmentTypeId, ...changes });
}

/** Books an option that a search finds, the first one unless `skip` is given. Returns the appointment. */
export async function bookFirst(
  clinic: Clinic,
  patientId: string,
  request: JsonObject = {},
  skip = 0,
): Promise<AppointmentBody> {
  const options = await optionsFor(clinic, { patientId, ...request });
  return appointmentIn(await book(clinic, patientId, `${options[skip]?.optionToken}`));
}

/** When tests take the steps that depend on the clock, in minutes from the start of the appointment. */
const STEP_MINUTES: Readonly<Record<string, number>> = {
  CheckInAppointment: -60,
  MarkAppointmentAttended: -60,
  MarkAppointmentNoShow: 15,
};

/** Advances the service's clock to the time at which a step is allowed. The clock never goes back. */
export function awaitStep({ service }: Pick<Clinic, "service">, rpc: string, { startsAt }: { startsAt: string }): void {
  const minutes = STEP_MINUTES[rpc];
  if (minutes !== undefined) service.advance(Math.max(0, Date.parse(startsAt) + minutes * 60_000 - service.now()));
}

/** Returns the appointment in an answer. Throws if the answer is an error. */
export function appointmentIn({ status, text, body }: RestAnswer): AppointmentBody {
  if (status !== 200) throw new Error(`an appointment was expected, but the answer is ${text}`);
  return body["appointment"] as AppointmentBody;
}
