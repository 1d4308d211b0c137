import { readFileSync } from "node:fs";

/** Returns the version in the project's package.json; `unknown` if the file cannot be read or has no version. */
export function packageVersion(): string {
  try {
    const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
    const { version } = JSON.parse(text) as { readonly version?: string };
    return version ?? "unknown";
  } catch {
    return "unknown";
  }
}
