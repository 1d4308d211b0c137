import { readFileSync } from "node:fs";

/** How many tests passed and failed by vitest's JSON report; a report that is missing or counts nothing is a failure. */
export function readResults(path) {
  try {
    const { numPassedTests, numFailedTests, numFailedTestSuites, success } = JSON.parse(readFileSync(path, "utf8"));
    const isGood = success && numPassedTests > 0;
    return {
      passed: numPassedTests,
      failed: isGood ? numFailedTests : Math.max(numFailedTests, numFailedTestSuites, 1),
    };
  } catch {
    return { passed: 0, failed: 1 };
  }
}
