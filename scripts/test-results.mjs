import { readFileSync } from "node:fs";
import { relative } from "node:path";

/** As much of a failure's message as tells it from others. */
const LONGEST_MESSAGE = 2_000;

/**
 * How many tests passed and failed by vitest's JSON report, and what to say of each that failed; a report that is missing or
 * counts nothing is a failure.
 */
export function readResults(path) {
  try {
    const { numPassedTests, numFailedTests, numFailedTestSuites, success, testResults } = JSON.parse(
      readFileSync(path, "utf8"),
    );
    const isGood = success && numPassedTests > 0;
    return {
      passed: numPassedTests,
      failed: isGood ? numFailedTests : Math.max(numFailedTests, numFailedTestSuites, 1),
      failures: testResults.flatMap(failuresOf),
    };
  } catch (error) {
    return { passed: 0, failed: 1, failures: [`${path} cannot be read: ${error.message}`] };
  }
}

/** A file that failed before its first test has a message of its own. */
function failuresOf({ name, message, assertionResults }) {
  const file = relative(process.cwd(), name);
  const own = message === "" ? [] : [`${file}\n${message.slice(0, LONGEST_MESSAGE)}`];
  const failed = assertionResults.filter(({ status }) => status === "failed");
  return own.concat(failed.map((each) => `${file} > ${each.fullName}\n${messageOf(each)}`));
}

function messageOf({ failureMessages }) {
  return failureMessages.join("\n").slice(0, LONGEST_MESSAGE);
}
