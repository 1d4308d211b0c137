import axe, { type AxeResults } from "axe-core";
import type { Browser, Locator, Page } from "playwright-core";
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

/** Fetches a demo token by the page's button. */
export async function getToken(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Get a demo token" }).click();
  await page.getByText("Valid until").waitFor();
}

/** Returns the number of operations in the sidebar. */
export function listed(page: Page): Promise<number> {
  return page.locator("nav li[data-words]").count();
}

/** Finds an operation by the search of the sidebar and opens it. */
export async function opened(page: Page, words: string, id: string): Promise<Locator> {
  await page.getByRole("searchbox").fill(words);
  await page.locator(`nav a[href='#${id}']`).click();
  const operation = page.locator(`#${id}`);
  await operation.locator(".try").waitFor();
  return operation;
}

/** Returns the request body that the form of an operation has now. */
export async function bodyOf(operation: Locator): Promise<Record<string, unknown>> {
  return JSON.parse(await operation.getByLabel("Body").inputValue()) as Record<string, unknown>;
}

/** Sends the example or another body. Returns the answer as the page shows it. */
export async function send(
  operation: Locator,
  body?: object,
): Promise<{ status: number; body: string; replayed: boolean }> {
  if (body !== undefined) await operation.getByLabel("Body").fill(JSON.stringify(body));
  const answered = operation.page().waitForResponse((response) => response.url().includes("/api/"));
  await operation.getByRole("button", { name: "Send" }).click();
  const correlationId = (await answered).headers()["x-correlation-id"] ?? "";
  const shown = operation.locator(".answer");
  await shown.locator(".headers", { hasText: correlationId }).waitFor();
  await operation.getByRole("button", { name: "Stop" }).waitFor({ state: "hidden" });
  return {
    status: Number.parseInt(await shown.locator(".status").innerText(), 10),
    body: await shown.locator(".body").innerText(),
    replayed: /^idempotent-replayed: true$/m.test(await shown.locator(".headers").innerText()),
  };
}

/** Returns the token of the first option in the answer to a search. */
export function firstToken(body: string): string {
  const { options } = JSON.parse(body) as { options: { optionToken: string }[] };
  return options[0]?.optionToken ?? "";
}
