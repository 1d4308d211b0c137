import type { JsonObject } from "@bufbuild/protobuf";
import * as makers from "../contract/makers.js";
import { rpcNamed } from "../contract/published-operations.js";
import * as resources from "../operations-clinic/resources-under-test.js";
import { makeAlike, type RowsOf } from "../support/alike.js";
import { oncePerPrincipal } from "../support/once-per-principal.js";
import type { RestAnswer } from "../support/rest-request.js";
import { callRpc } from "../support/rpc.js";
import type { TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";

/** What is a clinic's own. */
interface ClinicIds {
  readonly serviceId: string;
  readonly practitionerIds: readonly string[];
  readonly programId: string;
  readonly ruleId: string;
}

/** A program with everything that booking in it needs. */
export interface Clinic extends ClinicIds {
  readonly service: TestService;
  readonly as: TokenFor;
  readonly requestSourceId: string;
  readonly appointmentTypeId: string;
}

/** What a clinic may have of another clinic, or otherwise than usual. */
export interface ClinicChanges {
  readonly as?: TokenFor;
  readonly serviceId?: string;
  readonly practitionerIds?: readonly string[];
  readonly program?: JsonObject;
  readonly rule?: JsonObject;
  /** False leaves the schedule unmade. */
  readonly materialized?: boolean;
}

/** An option, in its JSON form. */
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
  readonly retained: boolean;
}

/** Eight slots from 8:00 to 12:00 on every day of the year, for 20 appointments. */
export const everyMorning: JsonObject = {
  ...makers.ruleTerms,
  weekdays: [1, 2, 3, 4, 5, 6, 7],
  validFrom: "2020-01-01",
  validTo: "2099-12-31",
  holidayDates: [],
  holidayPolicy: "INCLUDE",
};

/** What the clinics of one principal have in common, which no test changes. */
interface CommonCatalogs {
  readonly opportunityDefinitionId: string;
  readonly requestSourceId: string;
  readonly appointmentTypeId: string;
}

/** A clinic is open for so long from today: much longer schedules cost a test more than all that it looks at. */
const DAYS_OPEN = 14;

/**
 * Makes a program with a service, a practitioner and a rule, and its schedule; what it only refers to is that of other clinics. It
 * is open every morning of two weeks, unless its rule says otherwise: with `everyMorning` up to the horizon.
 */
export async function openClinic(service: TestService, changes: ClinicChanges = {}): Promise<Clinic> {
  const { as = {}, practitionerIds, materialized = true } = changes;
  const catalogs = await commonCatalogs(service, as);
  const rule: JsonObject = { ...everyMorning, validTo: day({ service }, DAYS_OPEN), ...changes.rule };
  const make = () => makeClinic(service, catalogs, { ...changes, rule });
  const dependsOnOthers = practitionerIds !== undefined || rule["holidayPolicy"] !== everyMorning["holidayPolicy"];
  const words = JSON.stringify([calendarOf(service, as), catalogs, { ...changes, rule }]);
  const ids = dependsOnOthers || !materialized ? await make() : await makeAlike(service, words, rowsOfClinic, make);
  const { requestSourceId, appointmentTypeId } = catalogs;
  return { service, as, ...ids, requestSourceId, appointmentTypeId };
}

/** The calendar by which a schedule is made. What is made by another one is not alike, as it would be if tenants differed by an id alone. */
export function calendarOf(service: TestService, { tenantId = service.tenantId }: TokenFor): string {
  return `${day({ service }, 0)} of ${tenantId.replaceAll("-", "")}, ${tenantId}`;
}

/** The rows of what is a clinic's own. */
export const rowsOfClinic: RowsOf<ClinicIds> = ({ programId, serviceId, practitionerIds }) => ({
  locations: `id = (SELECT location_id FROM programs WHERE id = '${programId}')`,
  healthcare_services: `id = '${serviceId}'`,
  practitioners: `id IN (${practitionerIds.map((id) => `'${id}'`).join()})`,
  programs: `id = '${programId}'`,
  program_rules: `program_id = '${programId}'`,
  program_services: `program_id = '${programId}'`,
  program_practitioners: `program_id = '${programId}'`,
  slots: `program_id = '${programId}'`,
});

async function makeClinic(
  service: TestService,
  { opportunityDefinitionId }: CommonCatalogs,
  { as = {}, program = {}, rule = {}, materialized = true, ...given }: ClinicChanges,
): Promise<ClinicIds> {
  const [serviceId, practitionerIds, programId] = await Promise.all([
    given.serviceId ?? createIn(service, resources.healthcareService, { opportunityDefinitionId }, as),
    given.practitionerIds ?? makers.practitioner.create(service, as).then((id) => [id]),
    makers.createProgram(service, program, as),
  ]);
  const ruleId = await makers.createRule(service, programId, rule, as);
  const clinic = { service, as };
  await mustCall(clinic, "ReplaceProgramServices", { programId, serviceIds: [serviceId], expectedVersion: 1 });
  const practitioners = { programId, practitionerIds: [...practitionerIds], expectedVersion: 1 };
  await mustCall(clinic, "ReplaceProgramPractitioners", practitioners);
  if (materialized) await mustCall(clinic, "MaterializeSchedule", { programId });
  return { serviceId, practitionerIds, programId, ruleId };
}

/** What the clinics of a principal refer to. */
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

/** Calls an RPC for the clinic. */
export function call({ service, as }: Pick<Clinic, "service" | "as">, rpc: string, request: JsonObject) {
  return callRpc(service, rpcNamed(rpc), request, { as });
}

/** Calls an RPC that is to succeed, and gives its response. */
export async function mustCall(
  clinic: Pick<Clinic, "service" | "as">,
  rpc: string,
  request: JsonObject,
): Promise<JsonObject> {
  const { status, body, text } = await call(clinic, rpc, request);
  if (status !== 200) throw new Error(`${rpc} was to succeed, but the answer is ${text}`);
  return body as JsonObject;
}

/** Makes the schedule of the clinic's program. */
export async function materialize(clinic: Clinic): Promise<JsonObject> {
  const { materialization } = await mustCall(clinic, "MaterializeSchedule", { programId: clinic.programId });
  return materialization as JsonObject;
}

/** The local date so many days after today. */
export function day({ service }: Pick<Clinic, "service">, days: number): string {
  const bogotaOffsetMs = -5 * 3_600_000;
  return new Date(service.now() + bogotaOffsetMs + days * 86_400_000).toISOString().slice(0, 10);
}

/** Searches for options, for the day after tomorrow unless the request names other dates. */
export function search(clinic: Clinic, request: JsonObject): Promise<RestAnswer> {
  const dates = { dateFrom: day(clinic, 2), dateTo: day(clinic, 2) };
  return call(clinic, "SearchAppointmentOptions", { serviceId: clinic.serviceId, ...dates, ...request });
}

/** The options that a search that is to succeed finds. */
export async function optionsFor(clinic: Clinic, request: JsonObject): Promise<readonly OptionBody[]> {
  return optionsIn(await search(clinic, request));
}

/** The options in an answer. Throws where the answer is an error. */
export function optionsIn({ status, text, body }: RestAnswer): readonly OptionBody[] {
  if (status !== 200) throw new Error(`options were expected, but the answer is ${text}`);
  return body["options"] as readonly OptionBody[];
}

/** Books the slot of a token. */
export function book(clinic: Clinic, patientId: string, optionToken: string, changes: JsonObject = {}) {
  const { requestSourceId, appointmentTypeId } = clinic;
  return call(clinic, "BookAppointment", { patientId, optionToken, requestSourceId, appointmentTypeId, ...changes });
}

/** Books the first slot that a search finds, or one further on, and gives the appointment. */
export async function bookFirst(
  clinic: Clinic,
  patientId: string,
  request: JsonObject = {},
  skip = 0,
): Promise<AppointmentBody> {
  const options = await optionsFor(clinic, { patientId, ...request });
  return appointmentIn(await book(clinic, patientId, `${options[skip]?.optionToken}`));
}

/** When each step that the clock has a say in is taken in tests, in minutes from the start of the appointment. */
const STEP_MINUTES: Readonly<Record<string, number>> = {
  CheckInAppointment: -60,
  MarkAppointmentAttended: -60,
  MarkAppointmentNoShow: 15,
};

/** Moves the service's clock on to when a step of an appointment can be taken; it never goes back. */
export function awaitStep({ service }: Pick<Clinic, "service">, rpc: string, { startsAt }: { startsAt: string }): void {
  const minutes = STEP_MINUTES[rpc];
  if (minutes !== undefined) service.advance(Math.max(0, Date.parse(startsAt) + minutes * 60_000 - service.now()));
}

/** The appointment in an answer. Throws where the answer is an error. */
export function appointmentIn({ status, text, body }: RestAnswer): AppointmentBody {
  if (status !== 200) throw new Error(`an appointment was expected, but the answer is ${text}`);
  return body["appointment"] as AppointmentBody;
}
