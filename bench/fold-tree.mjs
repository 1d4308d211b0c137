/** What only says that the event loop goes on where a promise or a callback waited. */
const GOES_ON = /^(\(root\)|processTicksAndRejections|runMicrotasks|runNextTicks)$/;

/**
 * A tree of stagedTree as one looks at it. Calls of a function by the same callers are one, wherever in its file they are; of Node's own
 * functions that call each other there is the outermost, with what the others take; a function that is called anew within its own
 * stage goes on where it was; and what the event loop goes on with has no caller. Gives nodes with their `name`, `file`, `stage`,
 * `share` with all that they call, 0 to 1, and `children`; and of these and of those the dearest first.
 *
 * @param {object} tree
 */
export function foldTree(tree) {
  const root = placeIn(undefined, { name: "", file: "", stage: undefined });
  add(tree, root);
  return summed(root).children;
}

function add({ frame, stage, own, children }, caller) {
  const place = placeOf(frame, stage, caller);
  const owner = place.caller === undefined ? placeIn(place, { name: stage, file: "", stage }) : place;
  owner.own += own;
  for (const child of children) add(child, place);
}

function placeOf({ functionName, url }, stage, caller) {
  const isNodes = url.startsWith("node:");
  if (GOES_ON.test(functionName) && (isNodes || url === "")) return caller;
  if (isNodes && caller.file.startsWith("node:")) return caller;
  const named = { name: functionName || `(${nameOf(url)})`, file: url, stage };
  return calledAnew(named, caller) ?? placeIn(caller, named);
}

/** A function without a name goes by its file's. */
function nameOf(url) {
  return url
    .split("/")
    .at(-1)
    .replace(/\.\w+$/, "");
}

function calledAnew({ name, file, stage }, caller) {
  for (let place = caller; place.stage === stage; place = place.caller) {
    if (place.name === name && place.file === file) return place;
  }
  return undefined;
}

function placeIn(caller, named) {
  const key = `${named.name} ${named.file} ${named.stage}`;
  const known = caller?.children.get(key);
  if (known !== undefined) return known;
  const place = { ...named, caller, own: 0, children: new Map() };
  caller?.children.set(key, place);
  return place;
}

function summed({ name, file, stage, own, children }) {
  const called = Array.from(children.values(), summed).toSorted((a, b) => b.share - a.share || order(a, b));
  return { name, file, stage, share: called.reduce((sum, { share }) => sum + share, own), children: called };
}

function order(a, b) {
  return `${a.name} ${a.file}` < `${b.name} ${b.file}` ? -1 : 1;
}
