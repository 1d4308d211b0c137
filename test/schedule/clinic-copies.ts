import { escapeLiteral } from "pg";
import { newId } from "../../src/uuid.js";
import type { TestService } from "../support/service.js";

/** What a clinic is made of, by the ids that a test needs to know. */
export interface ClinicIds {
  readonly serviceId: string;
  readonly practitionerIds: readonly string[];
  readonly programId: string;
  readonly ruleId: string;
}

/** The rows of a clinic as the service made them, and its ids. */
interface Template {
  readonly ids: ClinicIds;
  /** By table, a JSON array of whole rows each. */
  readonly rows: Readonly<Record<string, string>>;
}

/** The tables that clinics have rows in, each behind those that it refers to, and which rows are those of a program. */
const TABLES: Readonly<Record<string, (programId: string) => string>> = {
  locations: (id) => `id IN (SELECT location_id FROM programs WHERE id = '${id}')`,
  healthcare_services: (id) => `id IN (SELECT service_id FROM program_services WHERE program_id = '${id}')`,
  practitioners: (id) => `id IN (SELECT practitioner_id FROM program_practitioners WHERE program_id = '${id}')`,
  programs: (id) => `id = '${id}'`,
  program_rules: (id) => `program_id = '${id}'`,
  program_services: (id) => `program_id = '${id}'`,
  program_practitioners: (id) => `program_id = '${id}'`,
  slots: (id) => `program_id = '${id}'`,
};

/** What a clinic can have of others, which is there already. */
const SHARED = new Set(["locations", "healthcare_services"]);

const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;

const known = new WeakMap<TestService, Map<string, { isAskedFor: boolean; template?: Template }>>();

/**
 * Makes a clinic. Of those that are asked for in the same words the service makes the first two; the others are copies of the second as it
 * was then, which cost a statement instead of eight calls. Ids in the words are the same in each, all others are new ones.
 */
export async function makeAlike(
  service: TestService,
  words: string,
  make: () => Promise<ClinicIds>,
): Promise<ClinicIds> {
  const ofService = known.get(service) ?? new Map();
  known.set(service, ofService);
  const alike = ofService.get(words) ?? { isAskedFor: false };
  ofService.set(words, alike);
  if (alike.template !== undefined) return copy(service, words, alike.template);
  const isAgain = alike.isAskedFor;
  alike.isAskedFor = true;
  const ids = await make();
  if (isAgain) alike.template = { ids, rows: await readRows(service, ids) };
  return ids;
}

async function readRows(service: TestService, { programId }: ClinicIds): Promise<Template["rows"]> {
  const columns = Object.entries(TABLES).map(
    ([table, isOf]) =>
      `(SELECT json_agg(t ORDER BY t)::text FROM (SELECT * FROM ${table} WHERE ${isOf(programId)}) t) AS ${table}`,
  );
  const [rows] = await service.query(`SELECT ${columns.join()}`);
  return Object.fromEntries(Object.entries(rows ?? {}).map(([table, text]) => [table, String(text)]));
}

async function copy(service: TestService, words: string, { ids, rows }: Template): Promise<ClinicIds> {
  const same = new Set(words.match(UUID));
  const others = new Map<string, string>();
  const otherFor = (id: string) => {
    const other = same.has(id) ? id : (others.get(id) ?? newId());
    others.set(id, other);
    return other;
  };
  const statements = Object.entries(rows).map(([table, text]) => {
    const values = escapeLiteral(text.replace(UUID, otherFor));
    const unlessThere = SHARED.has(table) ? " ON CONFLICT (tenant_id, id) DO NOTHING" : "";
    return `INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, ${values})${unlessThere}`;
  });
  await service.query(statements.join(";"));
  return {
    serviceId: otherFor(ids.serviceId),
    practitionerIds: ids.practitionerIds.map(otherFor),
    programId: otherFor(ids.programId),
    ruleId: otherFor(ids.ruleId),
  };
}
