import { ConfigError, readConfig } from "../../src/settings/config.js";

/** Returns the problems of an environment's settings; empty if they are valid. */
export function problemsOf(environment: Readonly<Record<string, string>>): readonly string[] {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}
