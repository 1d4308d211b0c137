/** Prints `N passed, N failed` from vitest's JSON report; a report that is missing or counts nothing is a failure. */
import { readFileSync } from "node:fs";

try {
  const { numPassedTests, numFailedTests, numFailedTestSuites, success } = JSON.parse(
    readFileSync(process.argv[2], "utf8"),
  );
  const failed = success ? numFailedTests : Math.max(numFailedTests, numFailedTestSuites, 1);
  console.log(`${numPassedTests} passed, ${failed} failed`);
  process.exitCode = failed === 0 && numPassedTests > 0 ? 0 : 1;
} catch {
  console.log("0 passed, 1 failed");
  process.exitCode = 1;
}
