import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createRequire } from "node:module";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumPath, openChromium, openWindow } from "../support/chromium.js";
import { registration } from "../support/registration.js";
import { startTestService, type TestService } from "../support/service.js";

const reason = chromiumPath === undefined ? " (skipped: needs Debian's package chromium)" : "";
