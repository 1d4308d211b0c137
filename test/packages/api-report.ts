import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { WorkspacePackage } from "./workspace-packages.js";

/** The declarations of one file. */
interface Declarations {
  readonly path: string;
  /** By the name in the file. */
  readonly texts: ReadonlyMap<string, string>;
  /** Names that come from other files of the package. */
  readonly imported: ReadonlyMap<string, Origin>;
  /** Names that other files see, with their origin. */
  readonly exported: ReadonlyMap<string, Origin>;
}

interface Origin {
  readonly path: string;
  readonly name: string;
}

const comments = /\/\*\*?[^]*?\*\/|^\s*\/\/.*$/gm;
const statementStart = /^(?=(?:export|declare|import|interface|type|const)\b)/m;
const declaration = /^(?:export )?(?:declare )?(?:abstract )?(?:function|class|interface|type|const|enum) (\w+)/;
const specifiers = /^(import|export)(?: type)? \{([^}]*)\}(?: from "([^"]+)")?/;
const specifier = /^(?:type )?(\w+)(?: as (\w+))?$/;
const inlineImport = /import\("(\.[^"]+)"\)\.(\w+)/g;
const word = /\b[A-Za-z_]\w*\b/g;

/**
 * Returns the public interface of a compiled package as Markdown: for each entry point the declarations of its exports
 * without comments, then those that the exports mention and no entry point exports. `folder` has the package with its
 * `dist`.
 *
 * It reads the declarations that the compiler wrote, because TypeScript 7 has no interface for programs. So it knows
 * only forms of the compiler's output, and throws for a star export or a default export.
 */
export function apiReport(folder: string, { name, entries }: WorkspacePackage): string {
  const read = reader();
  const exportedBy = Object.entries(entries).map(([entry, { types }]) => {
    const { exported } = read(resolve(folder, types));
    const declared = [...exported].map(([as, origin]) => ({ as, declared: declarationOf(read, origin) }));
    return { entry, declared: declared.toSorted((one, other) => (one.as < other.as ? -1 : 1)) };
  });
  const known = new Set(exportedBy.flatMap(({ declared }) => declared.map(({ declared: { id } }) => id)));
  const sections = exportedBy.map(({ entry, declared }) =>
    section(
      join(name, entry),
      declared.map(({ as, declared: { text, name: own } }) => (as === own ? text : `${text} // as ${as}`)),
    ),
  );
  const mentioned = mentionedBy(read, [...known]).filter((id) => !known.has(id));
  const texts = mentioned.map((id) => declarationOf(read, originOf(id)).text).toSorted();
  const hidden = texts.length === 0 ? [] : [section("Mentioned, but not exported", texts)];
  return [`# Interface of ${name}`, "Written by `npm run docs:api`.", ...sections, ...hidden].join("\n\n").concat("\n");
}

function section(title: string, texts: readonly string[]): string {
  return `## ${title}\n\n\`\`\`ts\n${texts.join("\n\n")}\n\`\`\``;
}

type Read = (path: string) => Declarations;

/** Returns a function that reads each file once. */
function reader(): Read {
  const files = new Map<string, Declarations>();
  return (path) => {
    const file = files.get(path) ?? parse(path, readFileSync(path, "utf8"));
    files.set(path, file);
    return file;
  };
}

function parse(path: string, source: string): Declarations {
  const texts = new Map<string, string>();
  const imported = new Map<string, Origin>();
  const exported = new Map<string, Origin>();
  for (const statement of source.replace(comments, "").split(statementStart)) {
    const text = statement.trim().replace(/\n\s*\n/g, "\n");
    if (/^export (?:\*|default\b)/.test(text)) throw new Error(`${path}: ${text} is not supported`);
    const [, name] = declaration.exec(text) ?? [];
    if (name !== undefined) {
      texts.set(name, texts.has(name) ? `${texts.get(name)}\n${text}` : text);
      if (text.startsWith("export ")) exported.set(name, { path, name });
    }
    const [, kind, list = "", from] = specifiers.exec(text) ?? [];
    if (kind === undefined || from?.startsWith(".") === false) continue;
    const origin = from === undefined ? path : declarationsAt(path, from);
    for (const [local, as] of namesIn(list))
      (kind === "import" ? imported : exported).set(as, { path: origin, name: local });
  }
  return { path, texts, imported, exported };
}

function namesIn(list: string): [local: string, as: string][] {
  return list.split(",").flatMap((each) => {
    const [, local, as = local] = specifier.exec(each.trim()) ?? [];
    return local === undefined || as === undefined ? [] : [[local, as]];
  });
}

function declarationsAt(importer: string, specified: string): string {
  return resolve(dirname(importer), specified.replace(/\.js$/, ".d.ts"));
}

/** Follows re-exports and imports to the declaration. */
function declarationOf(
  read: Read,
  origin: Origin,
): { readonly id: string; readonly name: string; readonly text: string } {
  const { texts, exported, imported } = read(origin.path);
  const text = texts.get(origin.name);
  if (text !== undefined) return { id: `${origin.path}#${origin.name}`, name: origin.name, text };
  const next = exported.get(origin.name) ?? imported.get(origin.name);
  if (next === undefined) throw new Error(`${origin.path} does not declare ${origin.name}`);
  return declarationOf(read, next);
}

function originOf(id: string): Origin {
  const [path = "", name = ""] = id.split("#");
  return { path, name };
}

/** Returns the declarations of the package that these declarations mention, directly or through others. */
function mentionedBy(read: Read, ids: readonly string[]): string[] {
  const found = new Set(ids);
  for (const id of found) {
    const { path } = originOf(id);
    const { texts, imported } = read(path);
    const { text } = declarationOf(read, originOf(id));
    for (const [, from = "", name = ""] of text.matchAll(inlineImport)) {
      found.add(declarationOf(read, { path: declarationsAt(path, from), name }).id);
    }
    for (const [name] of text.matchAll(word)) {
      const origin = imported.get(name) ?? (texts.has(name) ? { path, name } : undefined);
      if (origin !== undefined) found.add(declarationOf(read, origin).id);
    }
  }
  return [...found];
}
