import { escapeLiteral } from "pg";
import { newId } from "../../src/uuid.js";
import type { TestService } from "./service.js";

/** Which rows something has, a condition for each table, those that others refer to first. */
export type RowsOf<T> = (made: T) => Readonly<Record<string, string>>;

/** For texts of what was made what a copy has in their place. */
export type OthersOf<T> = (made: T) => Readonly<Record<string, string>>;

/** Something as the service made it, and its rows by table; without them each has to be made. */
interface Template<T> {
  readonly made: T;
  /** The ids in the words that it was asked for in. */
  readonly ids: readonly string[];
  readonly rows: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>> | undefined;
}

/** What was asked for of a service. */
interface Kept {
  /** By the words without their ids; undefined where that was once. */
  readonly templates: Map<string, Promise<Template<object>> | undefined>;
  /** Copies are made one behind the other, because each at once would open a connection of its own. */
  lastCopy: Promise<unknown>;
}

const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;

const known = new WeakMap<TestService, Kept>();

/**
 * Makes something that a test needs, of JSON values. Of those that are asked for in the same words but for ids the service makes the
 * first two; the others are copies of the second as it was then, which cost a statement instead of calls, and leave no trace in the
 * audit trail. A copy has the ids of its words in place of the other's, and new ones in place of all others, also within codes; and
 * in place of texts what `othersOf` says.
 */
export async function makeAlike<T extends object>(
  service: TestService,
  words: string,
  rowsOf: RowsOf<T>,
  make: () => Promise<T>,
  othersOf: OthersOf<T> = () => ({}),
): Promise<T> {
  const kept = known.get(service) ?? { templates: new Map(), lastCopy: Promise.resolve() };
  known.set(service, kept);
  const ids = [...new Set(words.match(UUID))];
  const pattern = words.replace(UUID, (id) => `#${ids.indexOf(id)}`);
  const isAgain = kept.templates.has(pattern);
  const earlier = kept.templates.get(pattern);
  if (earlier !== undefined) {
    const template = (await earlier.catch(() => undefined)) as Template<T> | undefined;
    if (template?.rows === undefined) return make();
    return copy(service, kept, template.made, template.rows, rewriter(template.ids, ids, othersOf(template.made)));
  }
  const template = isAgain ? make().then((made) => templateOf(service, made, ids, rowsOf(made))) : undefined;
  kept.templates.set(pattern, template);
  return template === undefined ? make() : (await template).made;
}

/** What copies are made of; no rows where one of the tables shows none. */
async function templateOf<T extends object>(
  service: TestService,
  made: T,
  ids: readonly string[],
  conditions: Readonly<Record<string, string>>,
): Promise<Template<T>> {
  const columns = Object.entries(conditions).map(
    ([table, condition]) =>
      `(SELECT json_agg(t ORDER BY t) FROM (SELECT * FROM ${table} WHERE ${condition}) t) AS ${table}`,
  );
  const [rows = {}] = await service.query(`SELECT ${columns.join()}`);
  return { made, ids, rows: Object.values(rows).includes(null) ? undefined : (rows as Template<T>["rows"]) };
}

async function copy<T extends object>(
  service: TestService,
  kept: Kept,
  made: T,
  rows: NonNullable<Template<T>["rows"]>,
  { isGiven, rewrite }: Rewriter,
): Promise<T> {
  const statements = Object.entries(rows).map(([table, all]) => {
    const values = escapeLiteral(rewrite(all.filter(({ id }) => !isGiven(String(id)))));
    return `INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, ${values})`;
  });
  const copied = kept.lastCopy.then(() => service.query(statements.join(";")));
  kept.lastCopy = copied.catch(() => undefined);
  await copied;
  return JSON.parse(rewrite(made)) as T;
}

/** Writes values as JSON, with ids and texts of a copy's own. */
interface Rewriter {
  /** Whether something with this id is among what was referred to, of which the copy has its own. */
  readonly isGiven: (id: string) => boolean;
  readonly rewrite: (value: unknown) => string;
}

function rewriter(
  given: readonly string[],
  inTheirPlace: readonly string[],
  others: Readonly<Record<string, string>>,
): Rewriter {
  const places = new Map(given.map((id, index) => [id, inTheirPlace[index] ?? id]));
  const otherFor = (id: string) => {
    const other = places.get(id) ?? newId();
    places.set(id, other);
    return other;
  };
  const texts = Object.entries(others).map((pair) => pair.map((text) => JSON.stringify(text)));
  return {
    isGiven: (id) => given.includes(id),
    rewrite: (value) =>
      texts.reduce(
        (json, [text = "", other = ""]) => json.replaceAll(text, other),
        JSON.stringify(value).replace(UUID, otherFor),
      ),
  };
}
