import { readFileSync } from "node:fs";

/** Returns the version in package.json; `unknown` if the compiled files have no package.json. */
export function packageVersion(): string {
  try {
    const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
    const { version } = JSON.parse(text) as { readonly version?: string };
    return version ?? "unknown";
  } catch {
    return "unknown";
  }
}
