import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, type BrowserContext, chromium } from "playwright-core";

/**
 * Path of the browser: CHROMIUM if set, otherwise the program of Debian's package `chromium`. Undefined if there is
 * none.
 */
export const chromiumPath: string | undefined = [
  process.env["CHROMIUM"] ?? "",
  ...(process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "chromium")),
].find(isProgram);

/** These flags disable the browser's own requests, so that every request comes from a page. */
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Starts a browser with a temporary profile. The caller must call `close`, which also deletes the profile. */
export async function openChromium(): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error("There is no Chromium; install Debian's package chromium.");
  return chromium.launch({ executablePath: chromiumPath, args: ARGUMENTS });
}

/** Opens a window with a fixed size, locale and time zone, so that its texts are the same on every machine. */
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
