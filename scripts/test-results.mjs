import { readFileSync } from "node:fs";
import { relative } from "node:path";

/** Longest part of a failure's message to print, in characters. */
const LONGEST_MESSAGE = 2_000;

/**
 * Reads Vitest's JSON report. Returns how many tests passed and failed, and a text for each failure. A file that could
 * not be loaded, a missing report and a report without tests count as a failure each.
 */
export function readResults(path) {
  try {
    const { numPassedTests, success, testResults } = JSON.parse(readFileSync(path, "utf8"));
    const failures = testResults.flatMap(failuresOf);
    const isGood = success && numPassedTests > 0;
    return { passed: numPassedTests, failed: isGood ? 0 : Math.max(failures.length, 1), failures };
  } catch (error) {
    return { passed: 0, failed: 1, failures: [`${path} cannot be read: ${error.message}`] };
  }
}

/** A file that failed before its first test has a message itself. */
function failuresOf({ name, message, assertionResults }) {
  const file = relative(process.cwd(), name);
  const own = message === "" ? [] : [`${file}\n${message.slice(0, LONGEST_MESSAGE)}`];
  const failed = assertionResults.filter(({ status }) => status === "failed");
  return own.concat(failed.map((each) => `${file} > ${each.fullName}\n${messageOf(each)}`));
}

function messageOf({ failureMessages }) {
  return failureMessages.join("\n").slice(0, LONGEST_MESSAGE);
}
