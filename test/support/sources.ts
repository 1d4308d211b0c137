import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";

/** Texts by path, relative to src: `rest/handler.ts`. */
export type Sources = Readonly<Record<string, string>>;

/** Folders by name, each with the folders that it may import. */
export type Rooms = Readonly<Record<string, readonly string[]>>;

/** Reads the TypeScript files below a folder. */
export function readSources(root: string): Sources {
  const paths = readdirSync(root, { recursive: true, encoding: "utf8" }).map((path) => path.replaceAll("\\", "/"));
  const files = paths.filter((path) => path.endsWith(".ts"));
  return Object.fromEntries(files.map((path) => [path, readFileSync(`${root}/${path}`, "utf8")]));
}

/** Returns the imports of a file, including type imports: files of src by path, packages by name. */
export function importsOf(sources: Sources, path: string): string[] {
  const text = sources[path] ?? "";
  const statements = text.matchAll(/^(?:import|export)\b(?:[^"';]*?\bfrom)?\s*"([^"]+)"/gm);
  const expressions = text.matchAll(/\bimport\(\s*"([^"]+)"/g);
  return [...statements, ...expressions].map(([, specifier = ""]) => targetOf(path, specifier));
}

function targetOf(path: string, specifier: string): string {
  if (!specifier.startsWith(".")) return specifier;
  return `${posix.join(posix.dirname(path), specifier).replace(/\.js$/, "")}.ts`;
}

/** Returns the imports of project files that match `to`, by files that match `from`, each as `from → to`. */
export function arrows(sources: Sources, from: RegExp, to: RegExp): string[] {
  return imports(sources, from, to).filter((arrow) => arrow.endsWith(".ts"));
}

/** Like {@link arrows}, but includes imports of packages. */
export function imports(sources: Sources, from: RegExp, to: RegExp): string[] {
  return named(sources, from)
    .flatMap((path) => importsOf(sources, path).map((target) => ({ path, target })))
    .filter(({ target }) => to.test(target))
    .map(({ path, target }) => `${path} → ${target}`);
}

/** Returns the first match of a pattern in each file, as `path:line`. */
export function matches(sources: Sources, paths: RegExp, pattern: RegExp): string[] {
  return named(sources, paths).flatMap((path) => {
    const text = sources[path] ?? "";
    const index = text.search(pattern);
    return index < 0 ? [] : [`${path}:${text.slice(0, index).split("\n").length}`];
  });
}

/**
 * Returns the forbidden imports between the folders of `floor`. A file directly in `floor` counts as a folder. A folder
 * that `rooms` does not list may import no other.
 */
export function strayArrows(sources: Sources, floor: string, rooms: Rooms): string[] {
  const roomOf = (path: string) =>
    path.startsWith(`${floor}/`) ? path.slice(floor.length + 1).split("/")[0] : undefined;
  return arrows(sources, new RegExp(`^${floor}/[^/]+/`), new RegExp(`^${floor}/`)).filter((arrow) => {
    const [from = "", to = ""] = arrow.split(" → ").map(roomOf);
    return from !== to && rooms[from]?.includes(to) !== true;
  });
}

/** Returns the folders with more than `most` files. */
export function crowdedFolders(sources: Sources, most: number): string[] {
  const folders = named(sources, /^(?!gen\/)/).map((path) => posix.dirname(path));
  return [...new Set(folders)].filter((folder) => folders.filter((other) => other === folder).length > most);
}

/** Returns the paths that match. */
export function named(sources: Sources, paths: RegExp): string[] {
  return Object.keys(sources).filter((path) => paths.test(path));
}

/** Finds import cycles by a depth-first walk. An import of a file that is still being walked closes a cycle. */
export function circles(sources: Sources): string[] {
  const done = new Set<string>();
  const found: string[] = [];
  const walk = (path: string, way: readonly string[]) => {
    const start = way.indexOf(path);
    if (start >= 0) found.push([...way.slice(start), path].join(" → "));
    if (start >= 0 || done.has(path)) return;
    for (const target of importsOf(sources, path)) if (sources[target] !== undefined) walk(target, [...way, path]);
    done.add(path);
  };
  for (const path of Object.keys(sources)) walk(path, []);
  return found;
}
