import { escapeLiteral } from "pg";
import { newId } from "../../src/uuid.js";
import type { TestService } from "./service.js";

/** Which rows something has, a condition for each table, those that others refer to first. */
export type RowsOf<T> = (made: T) => Readonly<Record<string, string>>;

/** Something as the service made it, and its rows by table. */
interface Template<T> {
  readonly made: T;
  readonly rows: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;
}

interface Asked {
  isAskedFor: boolean;
  template?: Template<object>;
}

const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;

const known = new WeakMap<TestService, Map<string, Asked>>();

/**
 * Makes something that a test needs, of JSON values. Of those that are asked for in the same words the service makes the
 * first two; the others are copies of the second as it was then, which cost a statement instead of calls, and leave no trace in the
 * audit trail. Ids in the words are the same in each, all others are new ones, also within codes.
 */
export async function makeAlike<T extends object>(
  service: TestService,
  words: string,
  rowsOf: RowsOf<T>,
  make: () => Promise<T>,
): Promise<T> {
  const ofService = known.get(service) ?? new Map<string, Asked>();
  known.set(service, ofService);
  const asked = ofService.get(words) ?? { isAskedFor: false };
  ofService.set(words, asked);
  if (asked.template !== undefined) return copy(service, words, asked.template as Template<T>);
  const isAgain = asked.isAskedFor;
  asked.isAskedFor = true;
  const made = await make();
  if (isAgain) asked.template = { made, rows: await readRows(service, rowsOf(made)) };
  return made;
}

async function readRows(
  service: TestService,
  conditions: Readonly<Record<string, string>>,
): Promise<Template<object>["rows"]> {
  const columns = Object.entries(conditions).map(
    ([table, condition]) =>
      `(SELECT json_agg(t ORDER BY t) FROM (SELECT * FROM ${table} WHERE ${condition}) t) AS ${table}`,
  );
  const [rows] = await service.query(`SELECT ${columns.join()}`);
  return rows as Template<object>["rows"];
}

async function copy<T extends object>(service: TestService, words: string, { made, rows }: Template<T>): Promise<T> {
  const same = new Set(words.match(UUID));
  const others = new Map<string, string>();
  const otherFor = (id: string) => {
    const other = same.has(id) ? id : (others.get(id) ?? newId());
    others.set(id, other);
    return other;
  };
  const changed = (value: unknown) => JSON.stringify(value).replace(UUID, otherFor);
  const statements = Object.entries(rows).map(([table, all]) => {
    const values = escapeLiteral(changed(all.filter(({ id }) => !same.has(String(id)))));
    return `INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, ${values})`;
  });
  await service.query(statements.join(";"));
  return JSON.parse(changed(made)) as T;
}
