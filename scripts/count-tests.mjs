/**
 * Prints each failed test from Vitest's JSON reports, then the totals as `N passed, N failed`. Exits with 1 if a test
 * failed or a report is missing.
 */
import { readResults } from "./test-results.mjs";

const results = process.argv.slice(2).map(readResults);
const sum = (name) => results.reduce((total, each) => total + each[name], 0);
for (const failure of results.flatMap(({ failures }) => failures)) console.log(`failed: ${failure}\n`);
console.log(`${sum("passed")} passed, ${sum("failed")} failed`);
process.exitCode = results.length > 0 && sum("failed") === 0 ? 0 : 1;
