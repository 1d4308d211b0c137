import type { DescEnum, DescMessage } from "@bufbuild/protobuf";
import type { Direction } from "./schema-options.js";

/** One use of a definition that has a schema of its own. */
export interface SchemaUse {
  readonly definition: DescMessage | DescEnum;
  /** Undefined for an enumeration, which is the same everywhere. */
  readonly direction: Direction | undefined;
  /** The JSON paths of the fields that are left out. */
  readonly excluded: readonly string[];
}

const suffixes: Readonly<Record<Direction, string>> = { request: "Input", response: "", error: "Error" };

/**
 * Returns a name for each use, in the same order:
 * - `Book` for `library.v1.Book`, and `ShelfLabel` for the nested `library.v1.Shelf.Label`
 * - `library.v1.Book` if another definition would have the same name, or if it is `taken`
 * - `BookInput` in requests if the message is also in responses; `BookError` in errors
 * - `BookInputWithoutName` if requests have the message in more than one form
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
