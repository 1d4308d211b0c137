import { ConfigError, readConfig } from "../../src/settings/config.js";

/** What is wrong with the settings of an environment; nothing where they are taken. */
export function problemsOf(environment: Readonly<Record<string, string>>): readonly string[] {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}
