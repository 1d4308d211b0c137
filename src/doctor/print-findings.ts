import type { Finding } from "./finding.js";

const LEVEL_WIDTH = 7;
const CHECK_WIDTH = 13;

/** The findings for people: a line each, level and check first, with what is to be done at the end. */
export function printFindings(findings: readonly Finding[]): string {
  return findings.map((finding) => `${lineOf(finding)}\n`).join("");
}

/** The findings for programs, as one JSON document: whether nothing failed, and each finding. */
export function jsonOfFindings(findings: readonly Finding[]): string {
  return `${JSON.stringify({ ok: isHealthy(findings), findings }, undefined, 2)}\n`;
}

/** Whether nothing failed. */
export function isHealthy(findings: readonly Finding[]): boolean {
  return findings.every(({ level }) => level !== "failure");
}

function lineOf({ level, check, says, advice }: Finding): string {
  const line = `${level.padEnd(LEVEL_WIDTH)}  ${check.padEnd(CHECK_WIDTH)}  ${says}`;
  return (advice === undefined ? line : `${line}. ${advice}`).replaceAll(/\s*\n\s*/g, " ");
}
