import { escapeLiteral } from "pg";
import { newId } from "../../src/uuid.js";
import type { TestService } from "./service.js";

/** Which rows something has, a condition for each table, those that others refer to first. */
export type RowsOf<T> = (made: T) => Readonly<Record<string, string>>;

/** Something as the service made it, and its rows by table; without them each has to be made. */
interface Template<T> {
  readonly made: T;
  readonly rows: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>> | undefined;
}

/** What was asked for of a service. */
interface Kept {
  /** By the words; undefined where that was once. */
  readonly templates: Map<string, Promise<Template<object>> | undefined>;
  /** Copies are made one behind the other, because each at once would open a connection of its own. */
  lastCopy: Promise<unknown>;
}

const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;

const known = new WeakMap<TestService, Kept>();

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
  const kept = known.get(service) ?? { templates: new Map(), lastCopy: Promise.resolve() };
  known.set(service, kept);
  const isAgain = kept.templates.has(words);
  const earlier = kept.templates.get(words);
  if (earlier !== undefined) {
    const template = (await earlier.catch(() => undefined)) as Template<T> | undefined;
    return template?.rows === undefined ? make() : copy(service, kept, words, template.made, template.rows);
  }
  const template = isAgain ? make().then((made) => templateOf(service, made, rowsOf(made))) : undefined;
  kept.templates.set(words, template);
  return template === undefined ? make() : (await template).made;
}

/** What copies are made of; no rows where one of the tables shows none. */
async function templateOf<T extends object>(
  service: TestService,
  made: T,
  conditions: Readonly<Record<string, string>>,
): Promise<Template<T>> {
  const columns = Object.entries(conditions).map(
    ([table, condition]) =>
      `(SELECT json_agg(t ORDER BY t) FROM (SELECT * FROM ${table} WHERE ${condition}) t) AS ${table}`,
  );
  const [rows = {}] = await service.query(`SELECT ${columns.join()}`);
  return { made, rows: Object.values(rows).includes(null) ? undefined : (rows as Template<T>["rows"]) };
}

async function copy<T extends object>(
  service: TestService,
  kept: Kept,
  words: string,
  made: T,
  rows: NonNullable<Template<T>["rows"]>,
): Promise<T> {
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
  const copied = kept.lastCopy.then(() => service.query(statements.join(";")));
  kept.lastCopy = copied.catch(() => undefined);
  await copied;
  return JSON.parse(changed(made)) as T;
}
