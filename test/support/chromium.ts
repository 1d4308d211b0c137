import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, type BrowserContext, chromium } from "playwright-core";

/** The browser of Debian's package `chromium`, or what CHROMIUM names; undefined where there is none. */
export const chromiumPath: string | undefined = [
  process.env["CHROMIUM"] ?? "",
  ...(process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "chromium")),
].find(isProgram);

/** It asks for nothing of its own accord: what it requests is what a page asks for. */
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A browser with a profile of its own, which is gone with it. Give it up with `close`. */
export async function openChromium(): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error("There is no Chromium; install Debian's package chromium.");
  return chromium.launch({ executablePath: chromiumPath, args: ARGUMENTS });
}

/** A window whose texts are the same everywhere. */
export function openWindow(browser: Browser): Promise<BrowserContext> {
  return browser.newContext({ viewport: { width: 1200, height: 900 }, locale: "en-GB", timezoneId: "America/Bogota" });
}

function isProgram(path: string): boolean {
  try {
    if (path !== "") accessSync(path, constants.X_OK);
    return path !== "";
  } catch {
    return false;
  }
}
