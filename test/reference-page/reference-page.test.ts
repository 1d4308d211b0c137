import { join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEMO_TENANT_ID } from "../../src/demo/large-clinic.js";
import { servedServices } from "../../src/services/services.js";
import { startDemoService } from "../openapi/example-calls.js";
import { chromiumPath, openChromium } from "../support/chromium.js";
import type { TestService } from "../support/service.js";
import {
  bodyOf,
  firstToken,
  getToken,
  type ListenerPage,
  listed,
  opened,
  openPage,
  send,
  seriousFindings,
} from "./listener-page.js";

const KEY = "key-of-this-start";
const BROWSER_MS = 240_000;
const reason = chromiumPath === undefined ? " (skipped: needs Debian's package chromium)" : "";
/** The folder for screenshots. Only taken if it is set, because they depend on the machine's fonts. */
const pictures = process.env["SCREENSHOTS"];

let service: TestService;
let browser: Browser;
let onPublic: ListenerPage;
let onInternal: ListenerPage;

describe.skipIf(chromiumPath === undefined)(`the reference page in Chromium${reason}`, () => {
  beforeAll(async () => {
    const sign = (expiresInSeconds: number) =>
      service.token({ tenantId: DEMO_TENANT_ID, client: "reference-page", expiresInSeconds });
    service = await startDemoService({}, { demoTokens: { key: KEY, sign } });
    browser = await openChromium();
    onPublic = await openPage(browser, service.publicUrl, `#key=${KEY}`);
    await picture(onPublic.page, "reference-page");
    onInternal = await openPage(browser, service.internalUrl, `#key=${KEY}`);
  }, BROWSER_MS);

  afterAll(async () => {
    await browser.close();
    await service.close();
  });

  test(
    "registers a patient, shows the replay of the same request, and the errors of another one",
    async () => {
      const { page, complaints } = onPublic;
      expect(await listed(page)).toBe(20);
      await getToken(page);
      const operation = await opened(page, "PatientService", "registerPatient");
      const key = operation.getByLabel("Idempotency-Key");
      const firstKey = await key.inputValue();
      expect(firstKey).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      const { documentNumber } = await bodyOf(operation);
      const first = await send(operation);
      expect(first).toMatchObject({ status: 201, replayed: false });
      expect(JSON.parse(first.body)).toMatchObject({ documentNumber, status: "ACTIVE", version: 1 });

      const again = await send(operation);
      expect(await key.inputValue()).toBe(firstKey);
      expect(again).toEqual({ ...first, replayed: true });
      await picture(page, "reference-page-replay", operation.locator(".try"));

      await operation.getByRole("button", { name: "New key" }).click();
      expect(await key.inputValue()).not.toBe(firstKey);
      const wrong = await send(operation, { documentType: "CC", fullName: "", phone: "none" });
      expect(wrong.status).toBe(422);
      const fields = (JSON.parse(wrong.body) as { errors: { field: string }[] }).errors.map(({ field }) => field);
      expect(fields.toSorted()).toEqual(["consentGrantedAt", "documentNumber", "fullName", "phone"]);
      await picture(page, "reference-page-errors", operation.locator(".try"));
      expect(complaints()).toEqual([]);
    },
    BROWSER_MS,
  );

  test(
    "lists all operations of the internal listener; an appointment booked there can be moved on the public one",
    async () => {
      const { page, complaints } = onInternal;
      expect(await listed(page)).toBe(servedServices.flatMap(({ service: { methods } }) => methods).length);
      await getToken(page);
      const search = await opened(page, "options", "searchAppointmentOptions");
      const options = await send(search);
      expect(options.status).toBe(200);
      const book = await opened(page, "book appointment", "bookAppointment");
      const booked = await send(book, { ...(await bodyOf(book)), optionToken: firstToken(options.body) });
      expect(booked.status).toBe(201);
      const { appointmentId } = JSON.parse(booked.body) as { appointmentId: string };
      await search.getByLabel("patientId").fill("");
      await search.getByLabel("appointmentTypeId").fill("");
      await search.getByLabel("appointmentId").fill(appointmentId);
      const others = await send(search);
      expect(others.status).toBe(200);
      const read = await opened(page, "GET /appointments/", "getAppointment");
      await read.getByLabel("appointmentId").fill(appointmentId);
      expect(JSON.parse((await send(read)).body)).toEqual(JSON.parse(booked.body));
      expect(complaints()).toEqual([]);

      await getToken(onPublic.page);
      const move = await opened(onPublic.page, "AppointmentService", "rescheduleAppointment");
      await move.getByLabel("appointmentId").fill(appointmentId);
      const moved = await send(move, { optionToken: firstToken(others.body), expectedVersion: 1 });
      expect(moved.status).toBe(200);
      expect(JSON.parse(moved.body)).toMatchObject({ id: appointmentId, version: 2 });
      expect(onPublic.complaints()).toEqual([]);
    },
    BROWSER_MS,
  );

  test(
    "shows a stream of events as it comes, until it is stopped",
    async () => {
      const { page, complaints } = onInternal;
      await getToken(page);
      const watch = await opened(page, "WatchEvents", "watchEvents");
      await watch.getByLabel("start").fill("OLDEST");
      await watch.getByRole("button", { name: "Send" }).click();
      await watch.locator(".body", { hasText: "eventId" }).waitFor();
      const stop = watch.getByRole("button", { name: "Stop" });
      await stop.click();
      await stop.waitFor({ state: "hidden" });
      expect(complaints()).toEqual([]);
    },
    BROWSER_MS,
  );

  test(
    "finds operations by words of their name, service and paths, and says how many",
    async () => {
      const { page } = onInternal;
      const found = async (words: string) => {
        await page.getByRole("searchbox").fill(words);
        return page.locator("nav li[data-words]:visible").allInnerTexts();
      };
      expect(await found("confirm appointment")).toEqual([expect.stringMatching(/^POST\s+Confirm appointment$/)]);
      expect(await page.locator("#found").innerText()).toBe("1 found");
      expect(await found("/cupo.access.v1.PatientService/Register")).toEqual([
        expect.stringContaining("Register patient"),
      ]);
      expect(await found("no such operation")).toEqual([]);
      expect((await found("")).length).toBe(await listed(page));
    },
    BROWSER_MS,
  );

  test(
    "shows samples in curl, TypeScript and Python with the address of the listener, and keeps the language",
    async () => {
      const { page } = onInternal;
      const operation = await opened(page, "book appointment", "bookAppointment");
      const texts = [
        ["curl", `curl -X POST '${service.internalUrl}/api/clinic/v1/appointments'`],
        ["Python", "import json, os, urllib.request, uuid"],
        ["TypeScript", `await fetch("${service.internalUrl}/api/clinic/v1/appointments", {`],
      ] as const;
      for (const [language, text] of texts) {
        await operation.getByRole("button", { name: language }).click();
        expect(await operation.locator(".samples pre:visible").allInnerTexts()).toEqual([
          expect.stringContaining(text),
        ]);
      }
      await page.reload();
      const again = await opened(page, "book appointment", "bookAppointment");
      expect(await again.locator(".samples pre:visible").innerText()).toContain("await fetch");
      expect(await page.locator("#introduction h2").allInnerTexts()).toEqual(
        expect.arrayContaining(["Authentication", "Idempotency keys", "Versions", "Errors", "Pages"]),
      );
    },
    BROWSER_MS,
  );

  test.each(["light", "dark"] as const)(
    "has no serious finding of axe in %s colors, with open operations, on both listeners",
    async (colorScheme) => {
      for (const { page } of [onPublic, onInternal]) {
        await page.emulateMedia({ colorScheme });
        await page.evaluate(
          "for (const each of document.querySelectorAll('details:nth-of-type(-n + 2)')) each.open = true",
        );
        expect(await seriousFindings(page)).toEqual([]);
      }
    },
    BROWSER_MS,
  );

  test(
    "changes its colors by a button, and keeps the choice",
    async () => {
      const { page } = onPublic;
      await page.emulateMedia({ colorScheme: "light" });
      const color = () => page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
      const light = await color();
      await page.getByRole("button", { name: "Dark" }).click();
      const dark = await color();
      expect(dark).not.toBe(light);
      await page.reload();
      expect(await color()).toBe(dark);
      await page.getByRole("button", { name: "Light" }).click();
      expect(await color()).toBe(light);
    },
    BROWSER_MS,
  );

  test(
    "fits a phone of 390 pixels, with its menu and an operation open",
    async () => {
      for (const [url, id] of [
        [service.publicUrl, "registerPatient"],
        [service.internalUrl, "searchAppointmentOptions"],
      ] as const) {
        const { page } = await openPage(browser, url, "", { width: 390, height: 844 });
        const width = () => page.evaluate<number>("document.documentElement.scrollWidth");
        expect(await width()).toBe(390);
        const menu = page.getByRole("button", { name: "Menu" });
        await menu.click();
        expect(await menu.getAttribute("aria-expanded")).toBe("true");
        expect(await width()).toBe(390);
        await page.locator(`nav a[href='#${id}']`).click();
        await page.locator(`#${id} .try`).waitFor();
        expect(await width()).toBe(390);
        expect(await seriousFindings(page)).toEqual([]);
        await page.close();
      }
    },
    BROWSER_MS,
  );

  test(
    "removes the key from its address, keeps it for a reload, and gets no token without it",
    async () => {
      const button = (page: Page) => page.getByRole("button", { name: "Get a demo token" });
      const { page } = await openPage(browser, service.publicUrl, `#key=${KEY}`);
      expect(page.url()).toBe(`${service.publicUrl}/docs`);
      await page.reload();
      await getToken(page);

      const other = await openPage(browser, service.publicUrl, "#key=key-of-that-start");
      await button(other.page).click();
      await other.page.getByText("For a demo token, open the address that the service printed").waitFor();

      const keyless = await openPage(browser, service.publicUrl, "");
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
      expect((await send(operation)).status).toBe(401);
      await page.getByLabel("Access token").fill(await service.token({ tenantId: DEMO_TENANT_ID, scopes: [] }));
      expect((await send(operation)).status).toBe(403);
      expect(complaints()).toEqual([]);
    },
    BROWSER_MS,
  );
});

async function picture(page: Page, name: string, part?: Locator): Promise<void> {
  if (pictures === undefined) return;
  await (part ?? page).screenshot({ path: join(pictures, `${name}.png`) });
}
