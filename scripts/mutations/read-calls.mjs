import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { noteName } from "./note-name.mjs";
import { openVitest } from "./open-vitest.mjs";

/** Tests that start processes, which never load a mutant, and tests that need a Citus cluster. */
const OUTSIDE =
  /\/test\/(?:citus|faults|guide|examples|stubs|deploy|proto-export|reference-page|demo|mutations)\/|\/test\/(?:main|npm-start|readme)\./;
/** The tests of every operation. They call so much that they would never be among the nearest. */
const OF_EVERY_OPERATION = /\/test\/(?:contract\/|postgres\/statement-tenants)/;
const MOST_TESTS = 40;
/** The largest share of test files that may fail without a mutant. Above it, a result would say nothing. */
const MOST_FAILED = 0.1;

/**
 * Returns `{ test, called }` for each test file: its path, and the functions of src that it calls as `path#function`.
 * Runs test files that have no record in `folder` or have changed since, to write it. A file that fails gets no record.
 * Throws if more than a tenth of these files fail.
 */
export async function readCalls(folder) {
  mkdirSync(folder, { recursive: true });
  await noteCalls(folder);
  const notes = readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")));
  return notes.map(({ test, calls }) => ({ test, called: new Set(calls) }));
}

/**
 * Returns the test files that call the innermost function that any test calls. If there are none, those that call what
 * uses the declaration, else any function of the file, else the files importing it. Those with the most words of its
 * file and functions in their path come first, then those with the fewest other calls. Of more than 40 the others are
 * left out, except tests of every operation.
 */
export function testsFor(mutant, notes) {
  const { file, functions, users } = mutant;
  const words = new Set([file, ...functions, ...users].flatMap(wordsOf));
  const nearest = (callers) => nearestOf(callers, words);
  for (const name of functions) {
    const callers = notes.filter(({ called }) => called.has(`${file}#${name}`));
    if (callers.length > 0) return nearest(callers);
  }
  const ofUsers = notes.filter(({ called }) => users.some((name) => called.has(`${file}#${name}`)));
  if (ofUsers.length > 0) return nearest(ofUsers);
  const ofFile = callersOf([file], notes);
  return nearest(ofFile.length > 0 ? ofFile : callersOf(importersOf(file), notes));
}

function callersOf(files, notes) {
  return notes.filter(({ called }) => [...called].some((call) => files.includes(call.split("#", 1)[0])));
}

function importersOf(file) {
  const sources = readdirSync("src", { recursive: true }).filter((name) => name.endsWith(".ts"));
  return sources
    .map((name) => join("src", name))
    .filter((path) =>
      Array.from(readFileSync(path, "utf8").matchAll(/ from "(\.[^"]+)\.js"/g)).some(
        ([, imported]) => `${join(dirname(path), imported)}.ts` === file,
      ),
    );
}

function nearestOf(notes, words) {
  const shared = new Map(notes.map(({ test }) => [test, wordsOf(test).filter((word) => words.has(word)).length]));
  return notes
    .toSorted((one, other) => shared.get(other.test) - shared.get(one.test) || one.called.size - other.called.size)
    .filter(({ test }, rank) => rank < MOST_TESTS || OF_EVERY_OPERATION.test(test))
    .map(({ test }) => test);
}

/** Returns the words of a path or a name in lower case, without the s of a plural. */
function wordsOf(name) {
  const words = name.split(/[^A-Za-z]+|(?=[A-Z])/).map((word) => word.toLowerCase().replace(/s$/, ""));
  return words.filter((word) => word.length > 2);
}

async function noteCalls(folder) {
  process.env.NOTE_CALLS_IN = folder;
  const vitest = await openVitest({ setupFiles: ["test/support/begin-file.ts", "scripts/mutations/note-calls.mjs"] });
  const all = await vitest.globTestSpecifications();
  const unknown = all.filter(({ moduleId }) => !OUTSIDE.test(moduleId) && !isNoted(folder, moduleId));
  if (unknown.length > 0) {
    console.log(`running ${unknown.length} test files to learn which functions they call`);
    const { testModules } = await vitest.runTestSpecifications(unknown);
    const failed = testModules.filter((module) => module.state() === "failed").map(({ moduleId }) => moduleId);
    for (const path of failed) {
      console.log(`left out, because it fails without a mutant: ${path}`);
      rmSync(join(folder, noteName(path)), { force: true });
    }
    if (failed.length > MOST_FAILED * unknown.length)
      throw new Error(`${failed.length} of ${unknown.length} test files fail without a mutant: correct them first`);
  }
  await vitest.close();
  delete process.env.NOTE_CALLS_IN;
}

function isNoted(folder, testPath) {
  const note = join(folder, noteName(testPath));
  return existsSync(note) && statSync(note).mtimeMs > statSync(testPath).mtimeMs;
}
