import { join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withDocumentedIds } from "../../src/demo/documented-ids.js";
import { fillDemo } from "../../src/demo/fill-demo.js";
import { DEMO_TENANT_ID } from "../../src/demo/large-clinic.js";
import { servedServices } from "../../src/services/services.js";
import { chromiumPath, openChromium, openWindow } from "../support/chromium.js";
import { startTestService, type TestService } from "../support/service.js";
import type { TokenFor } from "../support/tokens.js";

const KEY = "key-of-this-start";
const BROWSER_MS = 240_000;
/** Time limit of a page on a busy machine, in milliseconds. */
const PATIENCE_MS = 60_000;
const reason = chromiumPath === undefined ? " (skipped: needs Debian's package chromium)" : "";
/** The folder for screenshots. Only taken if it is set, because they depend on the machine's fonts. */
const pictures = process.env["SCREENSHOTS"];

/** A listener's page, with the token, filter and open operations that earlier tests left. */
interface ListenerPage {
  readonly page: Page;
  /** Number of operations listed when the page was opened. */
  readonly listed: number;
  /** Returns the complaints since the last call. */
  complaints(): readonly string[];
}

let service: TestService;
let browser: Browser;
let onPublic: ListenerPage;
let onInternal: ListenerPage;

describe.skipIf(chromiumPath === undefined)(`the reference page in Chromium${reason}`, () => {
  beforeAll(async () => {
    const sign = (expiresInSeconds: number) =>
      service.token({ tenantId: DEMO_TENANT_ID, client: "reference-page", expiresInSeconds });
    service = await startTestService({}, { served: withDocumentedIds, demoTokens: { key: KEY, sign } });
    const issuer = { sign: (request: TokenFor) => service.token(request) };
    const { internalUrl, now } = service;
    const signal = new AbortController().signal;
    await fillDemo({ internalUrl, issuer, now, signal, onProgress: () => undefined });
    browser = await openChromium();
    onPublic = await open(service.publicUrl, `#key=${KEY}`);
    await picture(onPublic.page, "reference-page");
    onInternal = await open(service.internalUrl, `#key=${KEY}`);
  }, BROWSER_MS);

  afterAll(async () => {
    await browser.close();
    await service.close();
  });

  test(
    "registers a patient, shows the replay of the same request, and the errors of another one",
    async () => {
      const { page, listed, complaints } = onPublic;
      expect(listed).toBe(20);
      await getToken(page);
      const operation = await opened(page, "PatientService", "registerPatient");
      const key = operation.locator("tr[data-param-name='Idempotency-Key'] input");
      const firstKey = await key.inputValue();
      expect(firstKey).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      const { documentNumber } = await requestOf(operation);
      const first = await execute(operation);
      expect(first).toMatchObject({ status: "201", replayed: false });
      expect(JSON.parse(first.body)).toMatchObject({ documentNumber, status: "ACTIVE", version: 1 });

      const again = await execute(operation);
      expect(await key.inputValue()).toBe(firstKey);
      expect(again).toEqual({ ...first, replayed: true });
      await picture(page, "reference-page-replay", operation.locator(".live-responses-table"));

      await operation.getByRole("button", { name: "New key" }).click();
      expect(await key.inputValue()).not.toBe(firstKey);
      const wrong = await execute(operation, { documentType: "CC", fullName: "", phone: "none" });
      expect(wrong.status).toBe("422");
      const fields = (JSON.parse(wrong.body) as { errors: { field: string }[] }).errors.map(({ field }) => field);
      expect(fields.toSorted()).toEqual(["consentGrantedAt", "documentNumber", "fullName", "phone"]);
      await picture(page, "reference-page-errors", operation.locator(".live-responses-table"));
      expect(complaints()).toEqual([]);
    },
    BROWSER_MS,
  );

  test(
    "lists all operations of the internal listener; an appointment booked there can be moved on the public one",
    async () => {
      const { page, listed, complaints } = onInternal;
      const methods = servedServices.flatMap(({ service: { methods: all } }) =>
        all.filter(({ methodKind }) => methodKind === "unary"),
      );
      expect(listed).toBe(methods.length);
      await getToken(page);
      const search = await opened(page, "BookingService", "searchAppointmentOptions");
      const request = await requestOf(search);
      const options = await execute(search);
      expect(options.status).toBe("200");
      const book = await opened(page, "BookingService", "bookAppointment");
      const booked = await execute(book, { ...(await requestOf(book)), optionToken: firstToken(options.body) });
      expect(booked.status).toBe("200");
      const { appointment } = JSON.parse(booked.body) as { appointment: { appointmentId: string } };
      const { appointmentId } = appointment;
      const { serviceId, dateFrom, dateTo } = request;
      const others = await execute(search, { appointmentId, serviceId, dateFrom, dateTo });
      expect(complaints()).toEqual([]);

      await getToken(onPublic.page);
      const move = await opened(onPublic.page, "AppointmentService", "rescheduleAppointment");
      await move.locator("tr[data-param-name='appointmentId'] input").fill(appointmentId);
      const moved = await execute(move, { optionToken: firstToken(others.body), expectedVersion: 1 });
      expect(moved.status).toBe("200");
      expect(JSON.parse(moved.body)).toMatchObject({ id: appointmentId, version: 2 });
      expect(onPublic.complaints()).toEqual([]);
    },
    BROWSER_MS,
  );

  test(
    "removes the key from its address, keeps it for a reload, and gets no token without it",
    async () => {
      const button = (page: Page) => page.getByRole("button", { name: "Get a demo token" });
      const { page } = await open(service.publicUrl, `#key=${KEY}`);
      expect(page.url()).toBe(`${service.publicUrl}/docs`);
      await page.reload();
      await getToken(page);

      const other = await open(service.publicUrl, "#key=key-of-that-start");
      await button(other.page).click();
      await other.page.getByText("For a demo token, open the address that the service printed").waitFor();

      const keyless = await open(service.publicUrl, "");
      await keyless.page.getByText("For a demo token, open the address that the service printed").waitFor();
      expect(await button(keyless.page).isVisible()).toBe(false);
      for (const { complaints, page: shown } of [other, keyless]) {
        expect(complaints()).toEqual([]);
        await shown.close();
      }
      await page.close();
    },
    BROWSER_MS,
  );

  test(
    "asks for a token when it cannot get one, and sends the pasted token",
    async () => {
      const { page, complaints } = onPublic;
      await page.getByLabel("Access token").fill("");
      const operation = await opened(page, "EligibilityService", "checkEligibility");
      expect((await execute(operation)).status).toBe("401");
      await page.getByLabel("Access token").fill(await service.token({ tenantId: DEMO_TENANT_ID, scopes: [] }));
      expect((await execute(operation)).status).toBe("403");
      expect(complaints()).toEqual([]);
    },
    BROWSER_MS,
  );
});

/**
 * Opens the page of a listener until it lists its operations. All tests share it, because drawing takes seconds.
 * Complaints are script errors, violations of the content security policy and requests to other hosts. Answers with an
 * error are none.
 */
async function open(url: string, fragment: string): Promise<ListenerPage> {
  const window = await openWindow(browser);
  const page = await window.newPage();
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
    const { origin, protocol } = new URL(request.url());
    if (origin !== url && protocol !== "data:") complaints.push(`asked ${request.url()}`);
  });
  await page.goto(`${url}/docs${fragment}`);
  await page.locator(".opblock").first().waitFor();
  const listed = await page.locator(".opblock").count();
  return { page, listed, complaints: () => complaints.splice(0) };
}

async function getToken(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Get a demo token" }).click();
  await page.getByText("Valid until").waitFor();
}

/**
 * Opens an operation of the page. Filters by its service first, because the page redraws all listed operations at each
 * keystroke.
 */
async function opened(page: Page, serviceName: string, operationId: string): Promise<Locator> {
  await page.getByPlaceholder("Filter by tag").fill(serviceName);
  const operation = page.locator(`.opblock[id$='-${operationId}']`);
  await operation.locator(".opblock-summary-control").click();
  await operation.locator("textarea").waitFor();
  return operation;
}

async function requestOf(operation: Locator): Promise<Record<string, unknown>> {
  return JSON.parse(await operation.locator("textarea").inputValue()) as Record<string, unknown>;
}

/** Sends the example or another body. Returns the answer as the page shows it. */
async function execute(
  operation: Locator,
  body?: object,
): Promise<{ status: string; body: string; replayed: boolean }> {
  if (body !== undefined) await operation.locator("textarea").fill(JSON.stringify(body));
  const answered = operation.page().waitForResponse((response) => response.request().method() === "POST");
  await operation.getByRole("button", { name: "Execute" }).click();
  const correlationId = (await answered).headers()["x-correlation-id"] ?? "";
  const shown = operation.locator(".live-responses-table .response");
  await shown.getByText(correlationId).first().waitFor();
  const headers = await shown.locator(".headerline").allInnerTexts();
  return {
    status: (await shown.locator(".response-col_status").innerText()).trim(),
    body: await shown.locator(".highlight-code code").first().innerText(),
    replayed: headers.some((line) => /^\s*idempotent-replayed:\s*true\s*$/.test(line)),
  };
}

function firstToken(body: string): string {
  const { options } = JSON.parse(body) as { options: { optionToken: string }[] };
  return options[0]?.optionToken ?? "";
}

async function picture(page: Page, name: string, part?: Locator): Promise<void> {
  if (pictures === undefined) return;
  await (part ?? page).screenshot({ path: join(pictures, `${name}.png`) });
}
