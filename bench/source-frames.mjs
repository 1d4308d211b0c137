import { existsSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { fileURLToPath } from "node:url";

const FOLDER = new URL("..", import.meta.url).href;
const COMPILED = new URL("dist/", FOLDER).href;

/**
 * A CPU profile of which each frame names the module that its function was written in, as a path below the project such as
 * `/src/uuid.ts` or `/node_modules/pg/lib/client.js`, and the function by the name that it had there. Our own bundle and our own compiled
 * modules are looked through by the source maps beside them; packages are as they are installed, and Node's own what they are.
 *
 * @param {{ nodes: readonly object[] }} profile as `Profiler.stop` gives it
 */
export function sourceFrames(profile) {
  const maps = new Map();
  const mapOf = (url) => {
    if (!maps.has(url)) maps.set(url, readMap(url));
    return maps.get(url);
  };
  const nodes = profile.nodes.map((node) => {
    const frame = writtenFrame(node.callFrame, mapOf);
    return { ...node, callFrame: { ...frame, url: belowProject(frame.url) } };
  });
  return { ...profile, nodes };
}

/** The bundle leads to a compiled module, and that one to its source. */
function writtenFrame(frame, mapOf) {
  const map = frame.url.startsWith(COMPILED) ? mapOf(frame.url) : undefined;
  const place = map?.findEntry(frame.lineNumber, frame.columnNumber);
  if (place?.originalSource === undefined) return frame;
  const written = {
    ...frame,
    functionName: writtenName(frame.functionName, place.name),
    url: new URL(place.originalSource, frame.url).href,
    lineNumber: place.originalLine,
    columnNumber: place.originalColumn,
  };
  return writtenFrame(written, mapOf);
}

/** Where two modules had a name in common, the bundle has a number behind one of them. */
function writtenName(name, original) {
  return original !== undefined && name.replace(/\$\d+$/, "") === original ? original : name;
}

function belowProject(url) {
  return url.startsWith(FOLDER) ? url.slice(FOLDER.length - 1) : url;
}

function readMap(url) {
  const file = `${fileURLToPath(url)}.map`;
  return existsSync(file) ? new SourceMap(JSON.parse(readFileSync(file, "utf8"))) : undefined;
}
