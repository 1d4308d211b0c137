import { chmod, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { firstClosedFolder, requireReach, unprivilegedAccount } from "../../src/embedded-postgres/account.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const server = { uid: 101, gid: 104 };

describe("firstClosedFolder", () => {
  test.each([
    ["root's folder that all may enter", { uid: 0, gid: 0, mode: 0o40711 }, true],
    ["root's folder that others may only list", { uid: 0, gid: 0, mode: 0o40744 }, false],
    ["root's folder that is closed to others", { uid: 0, gid: 0, mode: 0o40700 }, false],
    ["the account's own folder", { uid: 101, gid: 0, mode: 0o40700 }, true],
    ["the account's own folder, closed to itself but open to others", { uid: 101, gid: 104, mode: 0o40611 }, false],
    ["the account's group's folder", { uid: 0, gid: 104, mode: 0o40710 }, true],
    ["the account's group's folder, open to others only", { uid: 0, gid: 104, mode: 0o40701 }, false],
    ["another user's and group's folder", { uid: 102, gid: 105, mode: 0o40770 }, false],
  ])("%s", (_, access, open) => {
    const folder = { path: "/srv/cupo", ...access };
    expect(firstClosedFolder([folder], server)).toBe(open ? undefined : folder);
  });

  test("returns the outermost of several", () => {
    const access = { uid: 0, gid: 0, mode: 0o40700 };
    const folders = [
      { path: "/", ...access, mode: 0o40755 },
      { path: "/root", ...access },
      { path: "/root/cupo", ...access },
    ];
    expect(firstClosedFolder(folders, server)?.path).toBe("/root");
  });
});

describe("unprivilegedAccount", () => {
  const root = "root:x:0:0:root:/root:/bin/bash";
  const nobody = "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin";
  const postgres = "postgres:x:101:104:PostgreSQL administrator,,,:/var/lib/postgresql:/bin/bash";

  test.each([
    ["postgres if it exists", [root, nobody, postgres], { name: "postgres", uid: 101, gid: 104 }],
    ["nobody if there is no postgres", [root, nobody], { name: "nobody", uid: 65534, gid: 65534 }],
    ["nobody if postgres has the id of root", [root, nobody, "postgres:x:0:0::/:/bin/sh"], { name: "nobody" }],
    ["undefined if there is neither", [root, "postgresql:x:7:7::/:/bin/sh"], undefined],
  ])("returns %s", (_, lines, expected) => {
    const account = unprivilegedAccount(`${lines.join("\n")}\n`);
    if (expected === undefined) expect(account).toBeUndefined();
    else expect(account).toMatchObject(expected);
  });
});

describe("requireReach", () => {
  const stranger = { name: "stranger", uid: 54_321, gid: 54_321 };
  let folder: string;

  beforeEach(async () => {
    folder = await temporaryFolder();
    await mkdir(join(folder, "open", "data"), { recursive: true });
    await chmod(join(folder, "open"), 0o755);
    await chmod(join(folder, "open", "data"), 0o755);
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  test("accepts a folder whose parents are all open", async () => {
    await expect(requireReach(join(folder, "open", "data"), stranger)).resolves.toBeUndefined();
  });

  test("reports the folder that the account cannot access, and the solutions", async () => {
    await chmod(join(folder, "open"), 0o700);
    const reached = requireReach(join(folder, "open", "data"), stranger);
    await expect(reached).rejects.toThrow(`cannot enter ${join(folder, "open")}, on the way to`);
    await expect(reached).rejects.toThrow(/stranger.*move the checkout.*CUPO_DATA_DIR.*DATABASE_URL/);
  });
});
