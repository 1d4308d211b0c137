/** Prints `N passed, N failed`, the sum of vitest's JSON reports, and ends with 1 where a test failed or a report is missing. */
import { readResults } from "./test-results.mjs";

const results = process.argv.slice(2).map(readResults);
const sum = (name) => results.reduce((total, each) => total + each[name], 0);
console.log(`${sum("passed")} passed, ${sum("failed")} failed`);
process.exitCode = results.length > 0 && sum("failed") === 0 ? 0 : 1;
