/**
 * Takes the screenshots of the reference pages in README and docs/guide, with the test of the pages in Chromium.
 * Compresses them if Debian's `pngquant` is installed.
 */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";

const folder = "docs/guide";
const test = ["vitest", "run", "test/reference-page/reference-page.test.ts"];
const { status } = spawnSync("npx", test, { stdio: "inherit", env: { ...process.env, SCREENSHOTS: folder } });
const pictures = readdirSync(folder).filter((name) => name.endsWith(".png"));
for (const name of pictures) spawnSync("pngquant", ["--force", "--ext", ".png", "--strip", "64", join(folder, name)]);
process.exit(status ?? 1);
