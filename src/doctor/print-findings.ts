import type { Finding } from "./finding.js";

const LEVEL_WIDTH = 7;
const CHECK_WIDTH = 13;

/** Returns the findings as text for people: one line each, with level, check, observation and advice. */
export function printFindings(findings: readonly Finding[]): string {
  return findings.map((finding) => `${lineOf(finding)}\n`).join("");
}

/** Returns the findings as text for programs: one JSON document with `ok` (no check failed) and the findings. */
export function jsonOfFindings(findings: readonly Finding[]): string {
  return `${JSON.stringify({ ok: isHealthy(findings), findings }, undefined, 2)}\n`;
}

/** Returns false if a check failed, otherwise true. */
export function isHealthy(findings: readonly Finding[]): boolean {
  return findings.every(({ level }) => level !== "failure");
}

function lineOf({ level, check, says, advice }: Finding): string {
  const line = `${level.padEnd(LEVEL_WIDTH)}  ${check.padEnd(CHECK_WIDTH)}  ${says}`;
  return (advice === undefined ? line : `${line}. ${advice}`).replaceAll(/\s*\n\s*/g, " ");
}
