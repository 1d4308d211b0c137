import axe, { type AxeResults } from "axe-core";
import type { Browser, Page } from "playwright-core";
import { openWindow } from "../support/chromium.js";

/** A listener's page, with the token, search and open operations that earlier tests left. */
export interface ListenerPage {
  readonly page: Page;
  /** Returns the complaints since the last call. */
  complaints(): readonly string[];
}

/** Time limit of a page on a busy machine, in milliseconds. */
const PATIENCE_MS = 60_000;

/**
 * Opens the page of a listener until its scripts have run. Complaints are script errors, violations of the content security
 * policy and requests to other hosts. Answers with an error are none.
 */
export async function openPage(
  browser: Browser,
  url: string,
  fragment: string,
  size = { width: 1200, height: 900 },
): Promise<ListenerPage> {
  const window = await openWindow(browser);
  const page = await window.newPage();
  await page.setViewportSize(size);
  page.setDefaultTimeout(PATIENCE_MS);
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (
      ["error", "warning"].includes(message.type()) &&
      !/the server responded with a status of 4/.test(message.text())
    )
      complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== url) complaints.push(`asked ${request.url()}`);
  });
  await page.goto(`${url}/docs${fragment}`);
  await page.locator("body.ready").waitFor();
  return { page, complaints: () => complaints.splice(0) };
}

/** Returns the serious and critical findings of axe-core on a page as it is shown now: rule and element. */
export async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>("axe.run(document, { resultTypes: ['violations'] })");
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
