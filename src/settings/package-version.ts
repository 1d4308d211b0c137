import { readFileSync } from "node:fs";

/** The version of this release, as package.json has it; `unknown` where the compiled files lie without it. */
export function packageVersion(): string {
  try {
    const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
    const { version } = JSON.parse(text) as { readonly version?: string };
    return version ?? "unknown";
  } catch {
    return "unknown";
  }
}
