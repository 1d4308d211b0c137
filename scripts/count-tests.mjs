/**
 * Prints every test that failed by vitest's JSON reports, then `N passed, N failed`, their sum, and ends with 1 where a test
 * failed or a report is missing.
 */
import { readResults } from "./test-results.mjs";

const results = process.argv.slice(2).map(readResults);
const sum = (name) => results.reduce((total, each) => total + each[name], 0);
for (const failure of results.flatMap(({ failures }) => failures)) console.log(`failed: ${failure}\n`);
console.log(`${sum("passed")} passed, ${sum("failed")} failed`);
process.exitCode = results.length > 0 && sum("failed") === 0 ? 0 : 1;
