import type { DescEnum, DescMessage } from "@bufbuild/protobuf";
import type { Direction } from "./schema-options.js";

/**
 * A message or enumeration that needs a schema. A message needs one schema for each combination of direction and
 * excluded fields that the document contains.
 */
export interface SchemaUse {
  readonly definition: DescMessage | DescEnum;
  /** Undefined for an enumeration, because its schema is the same in all directions. */
  readonly direction: Direction | undefined;
  /** The JSON paths of the fields that the schema leaves out. */
  readonly excluded: readonly string[];
}

const suffixes: Readonly<Record<Direction, string>> = { request: "Input", response: "", error: "Error" };

/**
 * Returns a name for the schema of each use, in the order of `uses`:
 * - `Book` for `library.v1.Book`, and `ShelfLabel` for the nested `library.v1.Shelf.Label`
 * - `library.v1.Book` if another definition also has the short name `Book`, or if `taken` contains `Book`
 * - `BookInput` for requests and `BookError` for errors, if the message is also used in another direction
 * - `BookWithoutName` or `BookInputWithoutName` if requests use the message both with and without the field `name`
 *
 * A name that is already used gets a number: `Book2`.
 */
export function nameSchemas(uses: readonly SchemaUse[], taken: readonly string[]): string[] {
  const shortNames = new Map<string, Set<string>>();
  for (const { definition } of uses) {
    const short = shortName(definition);
    shortNames.set(short, (shortNames.get(short) ?? new Set()).add(definition.typeName));
  }
  const used = new Set(taken);
  return uses.map((use) => {
    const short = shortName(use.definition);
    const isClear = shortNames.get(short)?.size === 1 && !taken.includes(short);
    const name = unused((isClear ? short : use.definition.typeName) + suffixOf(use, uses), used);
    used.add(name);
    return name;
  });
}

function shortName({ typeName, file }: SchemaUse["definition"]): string {
  const { package: name } = file.proto;
  return (name === "" ? typeName : typeName.slice(name.length + 1)).replaceAll(".", "");
}

function suffixOf(use: SchemaUse, uses: readonly SchemaUse[]): string {
  const others = uses.filter((other) => other !== use && other.definition === use.definition);
  const isElsewhere = others.some(({ direction }) => direction !== use.direction);
  const isInTwoForms = others.some(({ direction }) => direction === use.direction);
  const without = isInTwoForms && use.excluded.length > 0 ? `Without${use.excluded.map(capitalized).join("And")}` : "";
  return (isElsewhere && use.direction !== undefined ? suffixes[use.direction] : "") + without;
}

function capitalized(path: string): string {
  return path.replace(/(?:^|\.)(.)/g, (_, letter: string) => letter.toUpperCase());
}

function unused(name: string, used: ReadonlySet<string>): string {
  let candidate = name;
  for (let n = 2; used.has(candidate); n++) candidate = `${name}${n}`;
  return candidate;
}
